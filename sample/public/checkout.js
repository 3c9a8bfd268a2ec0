// Makes the forms easier to use; they work without this script.
const form = document.querySelector('[data-checkout]');
const { number, expiry, cvv, holder, phone } = form.elements;
const { instalments } = form.elements;
const told = document.querySelector('[data-card]');
const feeTold = document.querySelector('[data-fee-told]');
const inFull = instalments.options[0];
const buttons = [...document.querySelectorAll('[data-busy]')].map((button) => ({
  button,
  label: button.textContent.trim(),
}));

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
    lookUp();
    form.querySelector('[data-busy]').focus();
  });
}

// Asks which bank the card is of, and in which instalments it can pay. Of the number, the first eight digits are sent.
let asked = '';
let asking = new AbortController();
let timer;

function lookUp() {
  const bin = number.value.replace(/\D/g, '').slice(0, 8);
  const isKnown = bin.length >= 6;
  if (bin === asked || (!isKnown && asked === '')) return;
  asked = isKnown ? bin : '';
  asking.abort();
  clearTimeout(timer);
  // The totals of another card must not stay: they are not what this one would be charged.
  show({ card: form.dataset.hint, choices: [] });
  if (!isKnown) return;
  asking = new AbortController();
  const { signal } = asking;
  // Most buyers go on typing.
  timer = setTimeout(() => void ask(bin, signal), bin.length < 8 ? 600 : 150);
}

async function ask(bin, signal) {
  try {
    const body = new URLSearchParams({ bin });
    const response = await fetch(form.dataset.choices, { method: 'POST', body, signal });
    if (!response.ok) throw new Error(String(response.status));
    const answer = await response.json();
    if (!signal.aborted) show(answer);
  } catch {
    if (!signal.aborted) show({ card: form.dataset.failed, choices: [] });
  }
}

function show({ card, choices }) {
  const chosen = instalments.value;
  const options = choices.map(({ count, text, pay, fee }) => {
    const option = new Option(text, count, false, String(count) === chosen);
    Object.assign(option.dataset, { pay, fee });
    return option;
  });
  instalments.replaceChildren(...(options.length > 0 ? options : [inFull]));
  told.textContent = card;
  showTotal();
}

/** The button says what the buyer pays in all, and the line below the list what of it is a fee. */
function showTotal() {
  const pay = buttons.find(({ button }) => button.form === form);
  const chosen = instalments.selectedOptions[0].dataset;
  feeTold.textContent = chosen.fee;
  if (pay.label === chosen.pay) return;
  pay.label = chosen.pay;
  if (!pay.button.disabled) pay.button.textContent = pay.label;
}

number.addEventListener('input', lookUp);
number.addEventListener('change', lookUp);
instalments.addEventListener('change', showTotal);

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
  // The browser may have filled in the card again.
  lookUp();
  showTotal();
});
