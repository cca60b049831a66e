"""A package as `spacy package` makes them: found by its entry point, loaded by its name."""

from pathlib import Path

CODE = """from pathlib import Path
from spacy.util import load_model_from_path
def load(**options):
    return load_model_from_path(Path({data!r}), **options)
"""


def install_pipeline(site: Path, name: str, *, data: Path = Path("/nowhere"), version: str = "3.8.0") -> None:
    """`site`: a folder of sys.path; `data`: the pipeline itself."""
    (site / name).mkdir(parents=True)
    (site / name / "__init__.py").write_text(CODE.format(data=str(data)))
    described = site / f"{name}-{version}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (described / "entry_points.txt").write_text(f"[spacy_models]\n{name} = {name}\n")
