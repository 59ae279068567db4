"""How the outputs of ladders become what was asked for; one file an answer, listed here and nowhere else."""

from polyladder.fitted.answers.answer import Answer, Guard
from polyladder.fitted.answers.banded import Banded
from polyladder.fitted.answers.classes import Classes
from polyladder.fitted.answers.draws import Draws
from polyladder.fitted.answers.numbers import Numbers
from polyladder.fitted.answers.probit import Probit

__all__ = ["Answer", "Banded", "Classes", "Draws", "Guard", "Numbers", "Probit"]
