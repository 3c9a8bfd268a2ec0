/** What `--json` prints, by command: names that do not change within a major version. */
export const JSON_SHAPES: Readonly<Record<string, unknown>> = shapes();

function shapes(): Record<string, unknown> {
  const payment = values(
    'conversationId account reference allowRepeat kind state settled stored reason amount currencyCode',
    'installmentCount chargedAmount code message orderId paymentId bankUniqueReferenceNumber authCode transactionDate',
    'transactionAt maskedCardNumber commissionRate commissionAmount createdAt updatedAt finalizedAt version currency',
  );
  const refund = values(
    'refundId conversationId account reference kind state settled stored reason amount currencyCode code message orderId',
    'paymentId bankUniqueReferenceNumber transactionDate transactionAt note by createdAt updatedAt finalizedAt version',
    'currency',
  );
  const totals = values('taken refunded open refundable');
  const counted = values('count oldest');
  const counts = (states: string) => Object.fromEntries(states.split(' ').map((state) => [state, counted]));
  const page = values('account next');
  return {
    doctor: { ...values('ok account'), checks: [values('check status message advice')] },
    'payments list': {
      ...page,
      payments: [payment],
      besides: values('underWay pending openRefunds parkedDeliveries'),
    },
    'payments show': { payment, history: [values('at state reason by note refundId')], refunds: [refund], totals },
    'payments stats': {
      ...values('account otherGateway'),
      states: counts('charging initiating awaiting authorizing pending succeeded failed expired unknown review'),
      refunds: counts('succeeded failed unknown review refunding'),
      deliveries: values('waiting open orphaned parked oldest'),
    },
    'payments inquire': { payment },
    'payments resolve': { payment },
    'payments abandon': { payment },
    'payments refund': { refund },
    'payments void': { refund },
    'payments refunds': { ...page, refunds: [refund], totals },
    'payments record-refund': { refund },
    'payments parked': {
      ...page,
      deliveries: [values('handlerId eventId type conversationId attempts error at')],
    },
    'payments replay': values('account handlerId eventId'),
  };
}

function values(...lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines
      .join(' ')
      .split(' ')
      .map((name) => [name, 'a value']),
  );
}
