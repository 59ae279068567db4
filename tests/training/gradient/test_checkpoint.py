"""Checkpoints of gradient training."""

from __future__ import annotations

import pytest
import torch

from polyladder.models.ladder import LPNN
from polyladder.training.gradient.train import Adam, train


def test_a_checkpoint_of_another_network_or_with_validation_is_refused(tmp_path):
    x = torch.randn(20, 2)
    place, options = tmp_path / "c.part", Adam(epochs=2, batch_size=10)
    whole = train(LPNN(2, (3,), 1, seed=0), x, x[:, 0], options=Adam(epochs=4, batch_size=10))
    train(LPNN(2, (3,), 1, seed=0), x, x[:, 0], options=options, checkpoint=place)
    resumed = train(LPNN(2, (3,), 1, seed=9), x, x[:, 0], options=Adam(epochs=4, batch_size=10), checkpoint=place)
    torch.testing.assert_close(resumed.training_loss, whole.training_loss)
    with pytest.raises(ValueError, match="networks of this shape"):
        train(LPNN(2, (4,), 1), x, x[:, 0], options=options, checkpoint=place)
    with pytest.raises(ValueError, match="without validation"):
        train(LPNN(2, (3,), 1), x, x[:, 0], options=options, checkpoint=place, validation=torch.arange(5))


def test_a_file_of_someone_else_is_refused_and_stays(tmp_path):
    x, place = torch.randn(20, 2), tmp_path / "c.part"
    torch.save({"epoch": 1}, tmp_path / "other")
    for content in (b"mine", b"", b"PK\x03\x04", b"\x80\x02]q\x00.", (tmp_path / "other").read_bytes()):
        place.write_bytes(content)
        with pytest.raises(ValueError, match=r"c\.part must be new or a checkpoint of polyladder"):
            train(LPNN(2, (3,), 1), x, x[:, 0], options=Adam(epochs=2, batch_size=10), checkpoint=place)
        assert place.read_bytes() == content
