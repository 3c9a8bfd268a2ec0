// Sends a changed quantity at once; without scripts, the button beside it does so.
for (const select of document.querySelectorAll('[data-submits]')) {
  select.form.querySelector('button').hidden = true;
  select.addEventListener('change', () => select.form.requestSubmit());
}
