"""A tour through the states of the page, with a model and a web search on this machine: every stop has a name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browsing import ROOT, Browsing, a_pdf, build, folders, served, written_by
from model_server import ModelServer, Reply
from model_server import serving as model_serving

from tests.search.tavily_server import KEY, a_result
from tests.search.tavily_server import serving as web_serving

KARNHOLM = (
    "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt. Its tower is 42 metres high and stands "
    "on the northern cliff of the island. The lamp was fed with rapeseed oil until 1911, when it was replaced by an "
    "electric arc lamp. In clear weather the light is seen from 31 kilometres.",
    "The harbour of Karnholm has three piers. The fishing boats moor at the western pier, and the ferry to the "
    "mainland leaves from the eastern pier twice a day. Ships longer than 80 metres must announce themselves a day "
    "ahead.",
    "The museum of Karnholm shows the log of the lighthouse keepers. It is open from May to September, and the ticket "
    "costs 9 crowns.",
)
FARMING = (
    "Sheep graze on the meadows of the island in summer. In winter they are fed with hay from the southern farms.",
    "The farmers of the island grow potatoes, barley and a little rye. The soil is sandy and dries out early.",
)
CORRECT = "In which year was the lighthouse of Karnholm built?"
OUTSIDE = "Who painted the Mona Lisa in the Louvre?"
DOUBTED = "The lighthouse was built in 1847 [1]. The engineer Ida Brandt drew the plans [1]. Penguins paid for it [1]."


@dataclass
class World:
    """The running app, who answers it, and the PDF that is not filed yet."""

    app: str
    model: ModelServer
    folder: Path


@contextlib.contextmanager
def world(folder: Path) -> Iterator[World]:
    """The app over an empty folder; the web is asked only after the person said so."""
    (folder / "Files").mkdir(parents=True)
    with model_serving() as model, web_serving() as web:
        web.finds(a_result("The Mona Lisa was painted by Leonardo da Vinci.", "https://art.example/mona", "Mona Lisa"))
        own = folders(folder) | written_by(model.base)
        own |= {"CRAG_WEB_PROVIDER": "tavily", "TAVILY_API_KEY": KEY, "CRAG_TAVILY_URL": web.url, "CRAG_WEB": "ask"}
        with served(ROOT / "app_streamlit.py", folder, **own) as app:
            yield World(app, model, folder)
