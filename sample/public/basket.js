// A changed quantity is sent at once; without scripts the button beside it does.
for (const select of document.querySelectorAll('[data-submits]')) {
  select.form.querySelector('button').hidden = true;
  select.addEventListener('change', () => select.form.requestSubmit());
}
