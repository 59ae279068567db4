from polyladder.fitted.answers import Classes, Draws, Numbers, Probit
from polyladder.fitted.model import fitted_model
from tests.export.estimators import fitted


def test_every_estimator_has_its_answer():
    kinds = {
        "numbers": Numbers,
        "three classes": Classes,
        "posterior": Draws,
        "posterior of two classes": Probit,
    }
    for name, kind in kinds.items():
        assert isinstance(fitted_model(fitted(name)[0]).answer, kind)
    assert fitted_model(fitted("one versus rest")[0]).answer.link == "one-versus-rest"
    assert fitted_model(fitted("two classes")[0]).answer.labels == ("low", "middle's")
