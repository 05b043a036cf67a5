export function amount(formula) {
  return eval(formula);
}
