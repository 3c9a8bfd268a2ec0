/** First 6 and last 4 digits. */
export function maskedCard(cardNo: string): string {
  return cardNo.slice(0, 6) + '*'.repeat(cardNo.length - 10) + cardNo.slice(-4);
}
