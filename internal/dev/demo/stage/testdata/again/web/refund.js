export function amount(formula) {
  return Number(formula);
}
