/** The shop's texts in English; `tr.ts` has the same in Turkish. */
export const en = {
  shop: {
    tagline: 'Stoneware made by hand',
    heroTitle: 'For the table you come home to',
    heroText: 'Six pieces, thrown and glazed in small batches. Each one is a little different from the next.',
    add: 'Add to basket',
    addOf: (name: string) => `Add to basket: ${name}`,
    postcards: 'Postcards for trying the unhappy paths',
    postcardsText:
      'Shown only while the gateway is simulated. ' +
      'Buy one alone: the last two digits of the total decide what the bank does.',
  },
  nav: {
    pages: 'Pages',
    shop: 'Shop',
    basket: 'Basket',
    admin: 'Orders',
    language: 'Language',
    skip: 'Skip to content',
  },
  footer: 'A sample shop of nestjs-card-payment.',
  basket: {
    title: 'Your basket',
    titleOf: (count: number) => (count === 0 ? 'Your basket is empty' : `Your basket (${count})`),
    empty: 'Your basket is empty.',
    goShopping: 'Look around the shop',
    quantityOf: (name: string) => `Quantity of ${name}`,
    update: 'Update',
    remove: 'Remove',
    removeOf: (name: string) => `Remove: ${name}`,
    total: 'Total',
    checkout: 'Go to payment',
    vat: 'VAT and delivery included',
  },
  checkout: {
    title: 'Payment',
    atPage: 'Pay at the bank’s page',
    atPageText: 'You can also pay without typing your card in this shop: pay at the bank’s page, then come back here.',
    here: 'Pay with card here',
    buyer: 'Buyer',
    card: 'Card',
    holder: 'Name on the card',
    phone: 'Mobile phone',
    number: 'Card number',
    expiry: 'Expiry',
    expiryHint: 'MM/YY',
    cvv: 'Security code',
    cvvHint: 'CVV',
    instalments: 'Instalments',
    once: 'Pay in full',
    times: (count: number, each: string) => `${count} instalments of about ${each}`,
    method: 'Verification',
    method3d: '3D Secure',
    method3dText: 'Your bank asks you for an SMS code',
    methodDirect: 'Direct',
    methodDirectText: 'Without verification at the bank',
    pay: (amount: string) => `Pay ${amount}`,
    paying: 'Just a moment…',
    secure: 'Your card is passed on to the payment service. The shop does not store it.',
    problems: 'Please check your details',
    wrongTitle: 'Nothing was charged. Please check the marked fields and enter your card again.',
    demoTitle: 'Simulator: test cards',
    demoText: 'Click one to fill in the form.',
    demoSms: 'SMS code at the bank:',
    demoFill: 'Fill in this test card',
  },
  order: {
    title: 'Order',
    paid: { title: 'Thank you, your order is paid', text: 'We are packing it now.' },
    refunded: {
      title: 'Your money has been given back',
      text: 'Everything that was charged goes back to your card. Your bank may take some days to show it.',
    },
    pending: {
      title: 'Your payment is being processed',
      text: 'The bank has not reported the outcome yet. Please do not pay again: this page looks again by itself.',
    },
    checking: {
      title: 'We are checking your payment',
      text: 'The bank’s answer does not quite match the order. Please do not pay again: we will get in touch with you.',
    },
    atBank: {
      title: 'Waiting for your bank',
      text:
        'Please confirm the payment on your bank’s page. ' +
        'If you have closed it, you can start again: nothing has been charged.',
    },
    atPage: {
      title: 'The payment page is open',
      text:
        'You can pay there. If you have paid already, please wait a moment: this page shows it by itself. If the ' +
        'payment page no longer opens, pay in another way.',
    },
    declinedAtPage: {
      title: 'Your card was declined',
      text: 'Nothing was charged. You can try another card at the payment page.',
    },
    failed: { title: 'Your payment was not completed', text: 'Nothing was charged.' },
    expired: {
      title: 'The payment timed out',
      text: 'It was not completed in time. Nothing was charged.',
    },
    unpaid: { title: 'Your order is not paid yet', text: 'Nothing was charged.' },
    goingToPage: {
      title: 'You are being taken to the payment page',
      text: 'If it does not open by itself, continue here.',
    },
    continueAtPage: 'Continue at the payment page',
    otherCard: 'Try another card at the payment page',
    otherWay: 'Pay in another way',
    pageKept:
      'The bank has not said yet whether you have paid at the payment page, so you cannot pay in another way now. ' +
      'Please try again in a moment.',
    again: 'Try again',
    lookAgain: 'Look again',
    pay: 'Go to payment',
    amount: 'Amount',
    charged: 'Charged',
    card: 'Card',
    instalments: 'Instalments',
    instalmentsText: (count: number) => (count === 1 ? 'Paid in full' : String(count)),
    code: 'Result code',
    authCode: 'Authorisation code',
    bankReference: 'Bank reference',
    paymentId: 'Payment number',
    date: 'Date',
    payment: 'Payment',
    summary: 'Your order',
    refunds: 'Given back',
    refundOf: (date: string) => `Refund, ${date}`,
    voidOf: (date: string) => `Cancelled, ${date}`,
    refundUnderWay: 'A refund is under way. We show it here as soon as the bank has confirmed it.',
    refundHint: 'Your bank may take some days to show it on your card.',
  },
  reasons: {
    notSent: 'The payment service could not be reached. Please try again in a moment.',
    refused: 'The payment service did not accept the request. Please try again later.',
    other: 'The payment could not be started. Please try again.',
  },
  admin: {
    title: 'Orders',
    titleOnHold: (count: number) => `Orders (${count} on hold)`,
    paidOrders: 'Paid orders',
    revenue: 'Taken, less refunds',
    attention: 'Need attention',
    none: 'No orders yet.',
    statuses: { open: 'open', checking: 'on hold', paid: 'paid', refunded: 'given back' },
    invoice: 'Invoice',
    payments: 'Payments',
    noPayments: 'No payment attempts.',
    events: 'Events',
    noEvents: 'No events yet.',
    inquire: 'Ask the gateway',
    resolvePaid: 'It was paid',
    resolveFailed: 'It was not paid',
    kinds: { direct: 'direct', '3d': '3D', hosted: 'payment page' },
    manage: 'Refunds and voids',
    back: 'All orders',
  },
  refunds: {
    title: 'Money back',
    taken: 'Taken',
    refunded: 'Given back',
    open: 'Not known yet',
    refundable: 'Left',
    none: 'Nothing has been given back.',
    by: (name: string) => `by ${name}`,
    nothingLeft: 'Nothing is left to give back.',
    waits: 'A refund has no known outcome yet. Until it has, nothing more of this payment can be given back.',
    inReview: 'Money was taken for certain, so it can be given back as it is: the payment need not be settled first.',
    formTitle: 'Refund',
    amount: 'Amount',
    amountHint: (left: string) => `at most ${left}`,
    note: 'Note',
    noteHint: 'for the shop only',
    refund: 'Refund this amount',
    refundAll: (left: string) => `Refund all: ${left}`,
    voidTitle: 'Void the whole payment',
    voidText: (taken: string) =>
      `A void calls off the whole payment of ${taken}. The gateway takes it on the day of the payment only, and no ` +
      'longer once the payment has been settled with the bank. After that, refund it instead.',
    void: 'Void the payment',
    recordTitle: 'Record a refund that was made elsewhere',
    recordText:
      'For a refund that you have already made at the gateway’s own panel. Nothing is sent to the gateway; it is ' +
      'written down, so that no more is given back than was taken.',
    record: 'Record the refund',
    unclear: 'It is not known whether this money was given back. Look it up before you decide.',
    inReviewRefund: 'The gateway’s answer contradicts the request. Look it up in the gateway’s own records.',
    resolveGiven: 'It was given back',
    resolveNotGiven: 'It was not given back',
    simulatorHint:
      'Simulator: a refund whose amount ends in .80 is declined; one that ends in .82 has an unclear answer, but is ' +
      'given back.',
    done: {
      refunding: (amount: string) => `The refund of ${amount} is under way. Nothing has to be done.`,
      succeeded: (amount: string) => `${amount} has been given back.`,
      failed: (amount: string) => `${amount} has not been given back: the gateway refused it.`,
      unknown: (amount: string) =>
        `It is not known whether ${amount} has been given back. Do not give it back again: ask the gateway first.`,
      review: (amount: string) =>
        `The gateway’s answer about ${amount} contradicts the request. Do not give it back again: look it up first.`,
    },
    lookAgain: 'Look again',
    problemTitle: 'Nothing was given back',
    unchangedTitle: 'Nothing was changed',
    problems: {
      amountFormat: 'Type the amount in digits, without thousands separators, such as 10.50 or 10,50.',
      amountPositive: 'The amount must be above 0.',
      amountDecimals: 'The amount must have no more than two digits after the point. Leave out thousands separators.',
      amountDigits: 'The amount has too many digits.',
      note: 'Write a note of 1 to 10,000 characters.',
      exceeds: (left: string) => `This is more than is left. ${left} is left to give back.`,
      nothingLeft: 'Nothing is left to give back.',
      voided: 'The payment has been voided, so nothing is left to give back.',
      refunded: (left: string) =>
        `A part has already been given back, so the payment cannot be voided. Refund the ${left} that is left.`,
      in_progress: (left: string) =>
        `Another refund of this payment has no known outcome yet. Wait for it, or settle it. ${left} is left besides.`,
      no_ids:
        'The gateway’s ids of this payment are not known, so the gateway cannot be asked to give it back. Do it at the ' +
        'gateway’s own panel, then record it here.',
      notTaken: 'It is not certain that this payment took money, so nothing can be given back.',
      usedForm:
        'This form has already been used for another refund, so this one was not sent. Look at what has been given ' +
        'back; if this is still wanted, send it again.',
      notSent: 'The gateway could not be reached, so nothing was given back. You can send it again.',
      unsupported:
        'This gateway takes no refunds from the shop. Give the money back at the gateway’s own panel, then record it ' +
        'here.',
      notNow: 'This did not work just now, and nothing was sent to the gateway. Please send it again.',
      notSettled:
        'This was not changed: its outcome is known already, or the request may still be on its way. That ends an ' +
        'hour after it was interrupted.',
      noInquiry: 'This gateway cannot be asked. Look it up in its own records.',
    },
  },
  problem: {
    notFound: { title: 'This page does not exist', text: 'Perhaps the link is incomplete.' },
    forbidden: {
      title: 'Access denied',
      text: 'Set SHOP_ADMIN_PASSWORD to open the orders page of a shop with a real gateway.',
    },
    unauthorized: { title: 'Please sign in', text: 'The orders page needs the password of the shop.' },
    tooMany: {
      title: 'Too many attempts',
      text: 'This attempt was not sent to a bank and charged nothing. Please try again in an hour.',
    },
    unavailable: {
      title: 'Just a moment',
      text: 'This did not work, and nothing was charged. Please try again.',
    },
    refused: { title: 'That did not work', text: 'The shop could not make sense of the request.' },
    home: 'Back to the shop',
  },
};

export type Texts = typeof en;
