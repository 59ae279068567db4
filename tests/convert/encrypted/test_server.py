from dataclasses import replace

import numpy as np
import pytest
import torch

from polyladder import encrypt, shallower
from tests.export.estimators import case, fitted
from tests.ladders import random_ladder, rows

NUMBERS = ("numbers", "gaps and categories", "two outputs")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["numbers", "cyclic", "gaps and categories", "two outputs", "three classes", "machine", "kernel"]
)
def test_decrypted_answers_are_the_estimators(name):
    model, frame, answers = case(name)
    frame, answers = frame[:700], answers[:700]
    made = encrypt(model)
    keys = made.recipe.make_keys()
    scores = made.score(keys.public, made.recipe.encrypt(keys.secret, frame))
    outputs = made.recipe.decrypt_outputs(keys.secret, scores)
    from polyladder.fitted.model import fitted_model

    exact = fitted_model(model).ladders(model.inputs(frame)).mean(0).numpy()
    error = np.abs(outputs - exact).max(0)
    assert (error <= made.bound).all()
    assert (error > 0).all()
    found = made.recipe.decrypt(keys.secret, scores)
    assert np.abs(found - answers).max() <= max(made.bound.max(), 1e-12)


@pytest.mark.slow
def test_a_piecewise_model_and_several_blocks():
    model, frame, answers = case("piecewise")
    made = encrypt(model, tolerance=0.05)
    keys = made.recipe.make_keys()
    count = made.parameters.slots + 10
    rows_sent = made.recipe.encrypt(keys.secret, frame[:count])
    scores = made.score(keys.public, rows_sent)
    assert np.abs(made.recipe.decrypt(keys.secret, scores) - answers[:count]).max() <= made.bound.max()
    shared = made.score(keys.public, rows_sent, workers=2)
    assert np.abs(made.recipe.decrypt(keys.secret, shared) - answers[:count]).max() <= made.bound.max()


@pytest.mark.slow
def test_an_affine_function_and_a_unit_without_weights():
    for hidden in ((), (2, 2)):
        p = random_ladder(d=2, hidden=hidden, m=1)
        if hidden:
            p = type(p)(
                W=(p.W[0] * torch.tensor([[1.0], [0.0]]), p.W[1]),
                b=p.b,
                V=p.V,
                c=p.c,
                readout=p.readout,
                offset=p.offset,
            )
        made = encrypt(p, ranges=[(-3.0, 3.0)] * 2)
        x = rows(50, 2).clamp(-3, 3)
        keys = made.recipe.make_keys()
        scores = made.score(keys.public, made.recipe.encrypt(keys.secret, x.numpy()))
        assert np.abs(made.recipe.decrypt(keys.secret, scores) - p(x).numpy()).max() <= made.bound.max()


def test_the_server_holds_no_secret_key():
    """Neither the model nor what it is sent can be turned into one, and another key opens nothing."""
    from polyladder.convert.encrypted.bundle import pack, unpack
    from polyladder.convert.encrypted.seal import context, from_bytes, library

    p = random_ladder(d=2, hidden=(2,), m=1)
    made = encrypt(p, ranges=[(-1.0, 1.0)] * 2)
    keys, other = made.recipe.make_keys(), made.recipe.make_keys()
    sent = made.recipe.encrypt(keys.secret, np.zeros((3, 2)))
    scores = made.score(keys.public, sent)
    assert "key" not in " ".join([*vars(made), *vars(made.recipe), *vars(made.model)])
    parts = unpack("public key", keys.public).parts
    assert set(parts) == {"relinearization"}
    with pytest.raises(ValueError, match="must belong to this model's parameters"):
        from_bytes(library().SecretKey, context(made.parameters), parts["relinearization"], "The secret key")
    with pytest.raises(ValueError, match="must hold a secret key; it holds a public key"):
        made.recipe.decrypt(keys.public, scores)
    with pytest.raises(ValueError, match="The scores must belong to key"):
        made.recipe.decrypt(other.secret, scores)
    # Not even if its name is forged: what it decrypts lies outside of all that the model can say.
    bundle = unpack("secret key", other.secret)
    forged = pack("secret key", replace(bundle, ids=unpack("secret key", keys.secret).ids))
    with pytest.raises(ValueError, match="they exceed its proven range"):
        made.recipe.decrypt(forged, scores)
    assert made.recipe.decrypt(keys.secret, scores) == pytest.approx(p(torch.zeros(3, 2).double()).numpy(), abs=1e-3)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="order of at most 17"):
        encrypt(random_ladder(d=2, hidden=(2,) * 17), ranges=[(-1.0, 1.0)] * 2)
    with pytest.raises(ValueError, match="one ladder for encrypted rows"):
        encrypt(fitted("posterior")[0])
    with pytest.raises(ValueError, match="must be held to a range"):
        encrypt(random_ladder())
    with pytest.raises(ValueError, match="tolerance must be at least"):
        encrypt(random_ladder(d=2, hidden=(3,) * 12), tolerance=1e-9, ranges=[(-1.0, 1.0)] * 2)
    deep = random_ladder(d=2, hidden=(2,) * 17)
    assert encrypt(shallower(deep, 1), ranges=[(-0.1, 0.1)] * 2, tolerance=1e9).parameters.degree == 32768


@pytest.mark.slow
def test_foreign_parameters_and_damage_are_refused():
    small, large = (encrypt(random_ladder(d=2, hidden=h, m=1), ranges=[(-1.0, 1.0)] * 2) for h in ((2,), (2, 2, 2)))
    keys, others = small.recipe.make_keys(), large.recipe.make_keys()
    sent = small.recipe.encrypt(keys.secret, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="The rows must belong to model"):
        large.score(others.public, sent)
    with pytest.raises(ValueError, match="The public key must belong to model"):
        small.score(others.public, sent)
    with pytest.raises(ValueError, match="something else, damaged"):
        small.score(keys.public, sent[: len(sent) // 2])


@pytest.mark.slow
def test_what_does_not_belong_together_is_refused_at_every_step():
    """Four times the same ring: another model, another range of the same model, and another pair of keys."""
    p, q = random_ladder(d=2, hidden=(2,), m=1, seed=0), random_ladder(d=2, hidden=(2,), m=1, seed=1)
    own, model, box = (encrypt(x, ranges=[(-1.0, high)] * 2) for x, high in ((p, 1.0), (q, 1.0), (p, 2.0)))
    assert own.parameters == model.parameters == box.parameters
    keys = own.recipe.make_keys()
    x = np.full((3, 2), 0.5)
    rows_sent = own.recipe.encrypt(keys.secret, x)
    scores = own.score(keys.public, rows_sent)
    assert own.recipe.decrypt(keys.secret, scores) == pytest.approx(p(torch.from_numpy(x)).numpy(), abs=1e-3)
    for other in (model, box):
        others = other.recipe.make_keys()
        foreign = other.recipe.encrypt(others.secret, x)
        for step in (
            lambda o=other: o.recipe.encrypt(keys.secret, x),
            lambda o=other: o.score(keys.public, rows_sent),
            lambda f=foreign: own.score(keys.public, f),
            lambda k=others: own.score(k.public, rows_sent),
            lambda o=other: o.recipe.decrypt(keys.secret, scores),
            lambda k=others: own.recipe.decrypt(k.secret, scores),
            lambda o=other, k=others, f=foreign: own.recipe.decrypt(keys.secret, o.score(k.public, f)),
        ):
            with pytest.raises(ValueError, match="must belong to model"):
                step()
    second = own.recipe.make_keys()
    for step in (
        lambda: own.score(second.public, rows_sent),
        lambda: own.score(keys.public, own.recipe.encrypt(second.secret, x)),
        lambda: own.recipe.decrypt(second.secret, scores),
    ):
        with pytest.raises(ValueError, match="must belong to key"):
            step()
    finer = encrypt(p, tolerance=own.bound[0] * 1.5, ranges=[(-1.0, 1.0)] * 2)
    assert (finer.recipe.model, finer.recipe.id) == (own.recipe.model, own.recipe.id)
