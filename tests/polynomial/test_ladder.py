import itertools

import pytest
import torch

from polyladder import LadderPolynomial, product_activation, stack
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles import ladder as oracle


@pytest.mark.parametrize("layers", range(6))
def test_equals_exact_arithmetic(layers: int) -> None:
    p = random_ladder(d=3, hidden=(4,) * layers, m=2)
    x = rows(3, 3)
    exact = torch.tensor([[float(v) for v in oracle.evaluate(p, row.tolist())] for row in x], dtype=torch.float64)
    torch.testing.assert_close(p(x), exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
def test_shapes_and_slices(batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(batch_shape=batch_shape)
    x = rows(7, 3)
    assert p(x).shape == (*batch_shape, 7, 2)
    assert (p.order, p.in_features, p.out_features, p.hidden, tuple(p.batch_shape)) == (3, 3, 2, (4, 5), batch_shape)
    assert p.n_weights == (4 * 3 + 4 + 4 * 3 + 4) + (5 * 4 + 5 + 5 * 3 + 5) + (2 * 5 + 2)
    own = torch.stack([rows(7, 3, seed=i) for i in range(p.readout[..., 0, 0].numel())]).reshape(*batch_shape, 7, 3)
    assert p(own).shape == (*batch_shape, 7, 2)
    if batch_shape:
        index = (1,) * len(batch_shape)
        torch.testing.assert_close(p[index](x), p(x)[index])
        torch.testing.assert_close(p[index](own[index]), p(own)[index])
        assert stack(list(p)) == p
        assert p[-1] == list(p)[-1]
        assert p[..., :2](x).shape == (*batch_shape[:-1], 2, 7, 2)


def test_a_single_polynomial_has_no_members() -> None:
    p = random_ladder()
    with pytest.raises(IndexError, match="single polynomial"):
        p[0]
    with pytest.raises(TypeError, match="no length"):
        len(p)
    with pytest.raises(IndexError):
        random_ladder(batch_shape=(3,))[0, 0]


def test_is_frozen_and_compares_by_value() -> None:
    p = random_ladder()
    with pytest.raises(AttributeError):
        p.offset = torch.zeros(2)  # type: ignore[misc]
    assert p == random_ladder()
    assert p != random_ladder(seed=1)
    assert p != p.to(torch.float32)
    assert p != random_ladder(hidden=(4,))
    assert p != "a ladder"


def test_is_differentiable_in_inputs_and_weights() -> None:
    p = random_ladder(hidden=(2, 2), m=1)
    x = rows(2, 3).requires_grad_()
    names, weights = zip(*p.tensors().items(), strict=True)

    def f(x: torch.Tensor, *values: torch.Tensor) -> torch.Tensor:
        t = dict(zip(names, values, strict=True))
        per_layer = {name: tuple(t[f"{name}.{l}"] for l in range(2)) for name in "WbVc"}
        return LadderPolynomial(**per_layer, readout=t["readout"], offset=t["offset"])(x)

    assert torch.autograd.gradcheck(f, (x, *(w.clone().requires_grad_() for w in weights)))


def test_dtype_follows_to_and_inputs_follow_the_weights() -> None:
    p = random_ladder().to(torch.float32)
    assert p.dtype == torch.float32
    assert p(rows(2, 3)).dtype == torch.float32


def test_repr_says_what_it_is() -> None:
    assert repr(random_ladder(batch_shape=(3,))) == (
        "LadderPolynomial(batch_shape=(3,), order=3, 3 -> [4, 5] -> 2, 89 weights, float64)"
    )


def broken(**changes: object) -> dict[str, object]:
    p = random_ladder()
    return {"W": p.W, "b": p.b, "V": p.V, "c": p.c, "readout": p.readout, "offset": p.offset, **changes}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"W": ()}, "must have one entry a layer"),
        ({"offset": torch.zeros(3, dtype=torch.float64)}, r"offset must have shape \(2,\); got shape \(3,\)"),
        ({"b": (torch.zeros(4), torch.zeros(5))}, "b.0 must be torch.float64"),
        ({"readout": torch.zeros(2, dtype=torch.float64)}, "readout must have shape"),
        ({"readout": torch.zeros(2, 7, dtype=torch.float64)}, r"readout must have shape \(2, 5\); got shape \(2, 7\)"),
        ({"offset": torch.zeros(2, dtype=torch.int64)}, "offset must be a floating-point tensor; got torch.int64"),
        ({"offset": [0.0, 0.0]}, "offset must be a torch.Tensor; got list"),
        ({"W": (torch.zeros(4), torch.zeros(5, 4))}, "W.0 must have shape"),
        ({"readout": torch.zeros(0, 5), "offset": torch.zeros(0)}, "must be torch.float32|must not be empty"),
    ],
)
def test_weights_that_do_not_fit_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        LadderPolynomial(**broken(**changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("x", [torch.zeros(3), torch.zeros(5, 4), torch.zeros(2, 5, 3)])
def test_rows_that_do_not_fit_are_refused(x: torch.Tensor) -> None:
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\) or \(3, n, 3\); got shape"):
        random_ladder(batch_shape=(3,))(x)
    with pytest.raises(TypeError, match="got ndarray"):
        random_ladder()(x.numpy())  # type: ignore[arg-type]


def test_the_product_activation_is_a_product_of_each_unit_with_its_gate() -> None:
    """Against sums over single entries, with a batch of gates, shared and own rows, with and without intercepts."""
    V, c, u = torch.randn(2, 4, 3), torch.randn(2, 4), torch.randn(2, 5, 4)
    for x in (torch.randn(5, 3), torch.randn(2, 5, 3)):
        for intercept in (None, c):
            found = product_activation(u, V, x, intercept)
            for b, n, k in itertools.product(range(2), range(5), range(4)):
                row = x[n] if x.dim() == 2 else x[b, n]
                gate = sum(float(V[b, k, j]) * float(row[j]) for j in range(3))
                gate += 0.0 if intercept is None else float(c[b, k])
                assert float(found[b, n, k]) == pytest.approx(float(u[b, n, k]) * gate, rel=1e-4, abs=1e-5)


def test_the_product_activation_refuses_what_does_not_fit() -> None:
    u, V, x = torch.zeros(5, 4), torch.zeros(4, 3), torch.zeros(5, 3)
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\); got shape \(3,\)\."):
        product_activation(u, V, x[0])
    with pytest.raises(ValueError, match=r"u must have 5 rows of 4 units; got shape \(4,\)\."):
        product_activation(u[0], V, x)
    with pytest.raises(ValueError, match=r"u must have 5 rows of 4 units; got shape \(5, 2\)\."):
        product_activation(u[:, :2], V, x)
