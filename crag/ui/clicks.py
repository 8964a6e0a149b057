"""What a click does in the browser alone: copy a text, lead from a marker to its source, stay where a panel opens."""

from __future__ import annotations

from typing import Final

import streamlit as st

from crag.ui import safe

_SCRIPT: Final = """
if (!window.cragClicks) {
  window.cragClicks = true;
  const copied = (button) => {
    const label = button.textContent;
    button.textContent = button.dataset.done;
    const live = document.getElementById('crag-live');
    if (live) live.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, 2000);
  };
  const byHand = (button) => {
    const area = document.createElement('textarea');
    area.value = button.dataset.text;
    area.style.position = 'fixed';
    document.body.append(area);
    area.select();
    if (document.execCommand('copy')) copied(button);
    area.remove();
    button.focus();
  };
  // Streamlit follows the end of the page, so one would see the end of a panel that opens: the page is held meanwhile.
  const page = () => document.querySelector('[data-testid=stAppScrollToBottomContainer]');
  const stay = (main) => {
    const top = main?.scrollTop, end = performance.now() + 2500, own = new AbortController();
    for (const kind of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
      document.addEventListener(kind, (event) => event.isTrusted && own.abort(), {capture: true, signal: own.signal});
    const hold = () => {
      if (!main || own.signal.aborted || performance.now() > end) return own.abort();
      if (main.scrollTop > top) {
        main.dispatchEvent(new WheelEvent('wheel'));
        main.scrollTop = top;
      }
      requestAnimationFrame(hold);
    };
    hold();
  };
  const toEnd = (main) => { if (main) main.scrollTop = main.scrollHeight; };
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey && event.target.closest?.('[data-testid=stChatInput]')) toEnd(page());
  }, {capture: true});
  document.addEventListener('click', (event) => {  // first of all: what was clicked may be drawn anew by the click
    if (event.target.closest?.('.stChatMessage [data-testid=stButtonGroup] button')) stay(page());
    if (event.target.closest?.('[data-testid=stChatInputSubmitButton]')) toEnd(page());
  }, {capture: true});
  document.addEventListener('click', (event) => {
    const copy = event.target.closest?.('.crag-copy');
    if (copy && !navigator.clipboard) byHand(copy);
    else if (copy) navigator.clipboard.writeText(copy.dataset.text).then(() => copied(copy), () => byHand(copy));
    const cite = event.target.closest?.('a.crag-cite');
    const chip = cite && document.getElementsByClassName('st-key-cited-' + cite.dataset.source)[0];
    const button = chip?.querySelector('button');
    if (cite) event.preventDefault();
    if (button) {
      button.scrollIntoView({block: 'center', behavior: 'smooth'});
      button.focus({preventScroll: true});
      button.click();
    }
  });
}
"""
"""The clipboard of the browser exists on https and localhost alone: elsewhere the text is selected and copied."""


def begin() -> None:
    """Once for the page, before anything of it is clicked."""
    st.html(f"<div class='crag-hidden'></div><script>{_SCRIPT}</script>", unsafe_allow_javascript=True)


def copy_button(text: str, label: str, done: str) -> str:
    """A button as HTML that puts `text` on the clipboard; then it says `done` for a while, also aloud."""
    data = f"data-text='{in_data(text)}' data-done='{safe.in_html(done)}'"
    return f"<button type='button' class='crag-copy' {data}>{safe.in_html(label)}</button>"


def in_data(text: str) -> str:
    """`text` for an attribute; its lines stay lines."""
    return safe.in_html(text).replace("\n", "&#10;")
