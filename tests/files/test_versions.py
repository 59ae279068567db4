import numpy as np
import sklearn
import torch

from polyladder import __version__
from polyladder.files.versions import versions


def test_they_are_those_at_work():
    found = versions()
    assert found["numpy"] == np.__version__
    assert found["torch"] == str(torch.__version__)
    assert found["scikit-learn"] == sklearn.__version__
    assert found["polyladder"] == __version__
