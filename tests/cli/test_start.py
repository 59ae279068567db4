"""The command from its first line on."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from polyladder.cli.start import run


def test_the_command_and_the_module_begin_at_the_same_place() -> None:
    (command,) = entry_points(group="console_scripts", name="polyladder")
    assert command.load() is run
    said = subprocess.run([sys.executable, "-m", "polyladder", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("polyladder ")


def test_nothing_heavy_is_imported_before_a_command_needs_it() -> None:
    look = (
        "import sys; import polyladder.cli.start; print([m for m in ('torch', 'typer', 'numpy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_an_interrupt_that_python_cannot_raise_is_no_traceback() -> None:
    lost = (
        "import weakref; from polyladder.cli.start import watch_interrupts\n"
        "def stop(_): raise KeyboardInterrupt\n"
        "def fail(_): raise ValueError('other errors are shown')\n"
        "class A: pass\n"
        "watch_interrupts()\n"
        "for what in (stop, fail):\n"
        "    a = A(); r = weakref.ref(a, what); del a\n"
    )
    said = subprocess.run([sys.executable, "-c", lost], capture_output=True, text=True, check=True).stderr
    assert "KeyboardInterrupt" not in said
    assert "other errors are shown" in said


@pytest.mark.slow
@pytest.mark.parametrize("afterward", ["raise AttributeError('half a module')", "time.sleep(60)"])
def test_an_interrupt_that_python_has_lost_is_still_one(afterward: str) -> None:
    lost = (
        "import os, signal, sys, time, types\n"
        "def app():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT); time.sleep(1)\n"
        "    except KeyboardInterrupt:\n"
        "        pass\n"
        f"    {afterward}\n"
        "main = types.ModuleType('polyladder.cli.main'); main.app = app; sys.modules['polyladder.cli.main'] = main\n"
        "from polyladder.cli.start import run; run()\n"
    )
    done = subprocess.run([sys.executable, "-c", lost], capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (130, "polyladder: interrupted.\n")
