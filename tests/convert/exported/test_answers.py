from polyladder.convert.exported.answers import Classes, Numbers, Posterior, Probit
from polyladder.export.read import exported
from tests.export.estimators import fitted


def test_every_estimator_has_its_answer():
    kinds = {
        "numbers": Numbers,
        "three classes": Classes,
        "posterior": Posterior,
        "posterior of two classes": Probit,
    }
    for name, kind in kinds.items():
        assert isinstance(exported(fitted(name)[0]).answer, kind)
    assert exported(fitted("one versus rest")[0]).answer.link == "one-versus-rest"
    assert exported(fitted("two classes")[0]).answer.labels == ("low", "middle's")
