export function show(cart) {
  document.getElementById("cart").textContent = cart.title;
}
