// Makes the forms easier to use; they work without this script.
const form = document.querySelector('[data-checkout]');
const { number, expiry, cvv, holder, phone } = form.elements;
const buttons = [...document.querySelectorAll('[data-busy]')].map((button) => ({ button, label: button.textContent }));

number.addEventListener('input', () => {
  if (number.selectionStart !== number.value.length) return;
  number.value = number.value.replace(/\D/g, '').replace(/(.{4})(?=.)/g, '$1 ');
});

expiry.addEventListener('input', (event) => {
  if (event.inputType?.startsWith('delete')) return;
  const digits = expiry.value.replace(/\D/g, '');
  // Some browsers fill in 12/2036.
  const year = digits.slice(2, digits.startsWith('20', 2) ? 6 : 4);
  expiry.value = digits.length < 2 ? digits : `${digits.slice(0, 2)}/${year}`;
});

for (const card of document.querySelectorAll('[data-number]')) {
  card.addEventListener('click', () => {
    number.value = card.dataset.number;
    expiry.value = card.dataset.expiry;
    cvv.value = card.dataset.cvv;
    holder.value ||= 'ADA YILMAZ';
    phone.value ||= '0555 111 22 33';
    form.querySelector('[data-busy]').focus();
  });
}

for (const { button } of buttons) {
  button.form.addEventListener('submit', () => {
    button.disabled = true;
    button.textContent = button.dataset.busy;
  });
}

// When the buyer comes back from the bank's page.
window.addEventListener('pageshow', () => {
  for (const { button, label } of buttons) {
    button.disabled = false;
    button.textContent = label;
  }
});
