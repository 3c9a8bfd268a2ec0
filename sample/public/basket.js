// Sends a changed quantity at once, and keeps the focus. Without scripts, the button beside it sends it.
for (const select of document.querySelectorAll('[data-submits]')) {
  select.form.querySelector('button').hidden = true;
  const sendIt = () => send(select).catch(() => select.form.submit());
  select.addEventListener('change', sendIt);
  // Changed before this script was loaded.
  if (!select.selectedOptions[0].defaultSelected) sendIt();
}

async function send({ form }) {
  const answer = await fetch(form.action, { method: 'post', body: new URLSearchParams(new FormData(form)) });
  const now = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.title = now.title;
  for (const part of ['.basket-link', '.total', '.lines .price']) {
    const fresh = [...now.querySelectorAll(part)];
    document.querySelectorAll(part).forEach((shown, index) => shown.replaceChildren(...fresh[index].childNodes));
  }
}
