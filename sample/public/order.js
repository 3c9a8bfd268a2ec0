// Asks again until the outcome is known, without reloading the page. Without scripts, there is a link.
const outcome = document.querySelector('[data-look-again]');

async function lookAgain() {
  const page = await fetch(location.href).then((answer) => (answer.ok ? answer.text() : null));
  const now = new DOMParser().parseFromString(page ?? '', 'text/html');
  const found = now.querySelector('[data-outcome]');
  if (found && found.dataset.outcome !== outcome.dataset.outcome) show(now, found);
}

/** Replaces only the contents of the region, so that screen readers announce them. */
function show(now, found) {
  const hadFocus = outcome.contains(document.activeElement);
  document.title = now.title;
  for (const { name } of [...outcome.attributes]) outcome.removeAttribute(name);
  for (const { name, value } of found.attributes) outcome.setAttribute(name, value);
  outcome.replaceChildren(...found.childNodes);
  for (const part of ['.basket-link', '[data-details]']) {
    document.querySelector(part).replaceWith(now.querySelector(part));
  }
  if (!hadFocus) return;
  outcome.tabIndex = -1;
  outcome.focus();
}

function wait() {
  if (!outcome.dataset.lookAgain) return;
  setTimeout(
    () =>
      lookAgain()
        .catch(() => undefined)
        .finally(wait),
    outcome.dataset.lookAgain * 1000,
  );
}

wait();
