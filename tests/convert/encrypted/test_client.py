import json

import numpy as np
import pytest

from polyladder import encrypt
from polyladder.convert.encrypted.client import ClientRecipe
from tests.export.estimators import case
from tests.ladders import random_ladder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaps and categories", "quantile", "cyclic", "two classes"])
def test_recipes_travel_as_text_and_hold_no_weights(name):
    model, frame, answers = case(name)
    made = encrypt(model)
    text = made.recipe.to_json()
    for weight in made.model.ladders[0].last[0][0].matrix.ravel()[:5]:
        assert repr(float(weight)) not in text
    again = ClientRecipe.from_json(text)
    assert again.to_json() == text
    keys = again.make_keys()
    scores = made.score(keys.public, again.encrypt(keys.secret, frame[:50]))
    assert np.abs(again.decrypt(keys.secret, scores) - answers[:50]).max() < max(made.bound.max(), 1e-3)


def test_a_recipe_that_was_changed_is_refused():
    text = encrypt(random_ladder(d=2, m=1), ranges=[(-1.0, 1.0)] * 2).recipe.to_json()
    content = json.loads(text)
    for name, value in content.items():
        changed = [v * 1.001 + 0.001 for v in value] if name in ("scale", "sizes", "offset", "bound") else None
        with pytest.raises(ValueError, match="must hold a recipe"):
            ClientRecipe.from_json(json.dumps(content | {name: changed}))
        with pytest.raises(ValueError, match="must hold a recipe"):
            ClientRecipe.from_json(json.dumps({key: held for key, held in content.items() if key != name}))
    assert ClientRecipe.from_json(json.dumps(content)).to_json() == text


@pytest.mark.parametrize("text", ["", "{}", "[]", "[" * 9999, '{"format": "polyladder encrypted recipe 1"}'])
def test_what_is_no_recipe_is_refused(text):
    with pytest.raises(ValueError, match="must hold a recipe"):
        ClientRecipe.from_json(text)
