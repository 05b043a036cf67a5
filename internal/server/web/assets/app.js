// What links and forms do without this file, it does without loading the whole page:
// swapping what they answer, search as you type, files on approach, keys, live progress.
const $ = (s, r = document) => r.querySelector(s);
const $$ = (s, r = document) => [...r.querySelectorAll(s)];
const say = (text) => { $('#live').textContent = text; };

// swap puts the elements that selectors name, as an answer has them, in the place of
// those that are here. Answers are the whole page; those that lead elsewhere are loaded.
async function swap(selectors, url, options = {}, push = false) {
  const places = selectors.split(' ').map((s) => $(s)).filter(Boolean);
  places.forEach((e) => e.setAttribute('aria-busy', 'true'));
  let answer;
  try {
    answer = await fetch(url, options);
  } catch {
    places.forEach((e) => e.removeAttribute('aria-busy'));
    say('The server did not answer');
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const gone = $('body.bare', page) && !$('body.bare');
  if (gone && !answer.ok) { document.documentElement.replaceWith(page.documentElement); return; }
  if (gone) { location.href = answer.url; return; }
  const focused = document.activeElement?.id;
  for (const s of new Set([...selectors.split(' '), '#toast'])) {
    const fresh = $(s, page), old = $(s);
    if (s === '#toast' && options.live && !fresh?.firstElementChild) continue; // it says what was done, not what happens
    if (fresh && old) {
      const had = old.contains(document.activeElement), field = $('[autofocus]', fresh);
      old.replaceWith(document.adoptNode(fresh));
      if (field) field.focus({preventScroll: true});
      else if (had) fresh.focus({preventScroll: true});
    }
    else if (old && s !== '#toast') old.removeAttribute('aria-busy');
  }
  if (!answer.ok) { const e = $('.problem, .wrong', page); say(e ? e.textContent : 'That failed'); if (e && !$('.wrong')) $('#toast').replaceChildren(Object.assign(document.createElement('p'), {className: 'toast bad', textContent: e.textContent.trim()})); }
  if (push) { history.pushState({}, '', answer.url); shown = address(); }
  if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus({preventScroll: true});
  const told = $('#toast .toast');
  if (told && !options.live) say(told.firstElementChild?.textContent ?? told.textContent);
  begin();
}

// Going back loads the page of then. Links within a page come here, too, and load nothing.
const address = () => location.pathname + location.search;
let shown = address();
addEventListener('popstate', () => { if (address() !== shown) location.reload(); });

// A form, its button or a link says in data-swap what its answer replaces.
addEventListener('submit', (e) => {
  const form = e.target, to = e.submitter?.dataset.swap ?? form.dataset.swap;
  if (form.matches('[data-theme-form]')) {
    e.preventDefault();
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    fetch('/theme', {method: 'POST', redirect: 'manual', body: new URLSearchParams({theme: root.dataset.theme})});
    return;
  }
  if (!to || e.submitter?.hasAttribute('formtarget')) return;
  e.preventDefault();
  const data = new URLSearchParams(new FormData(form, e.submitter));
  const url = new URL(e.submitter?.getAttribute('formaction') ?? form.getAttribute('action'), location);
  if (form.method === 'post') { swap(to, url, {method: 'POST', body: data}); return; }
  url.search = data;
  swap(to, url, {}, !form.hasAttribute('data-still'));
});

addEventListener('click', (e) => {
  const t = e.target.closest('a, button, summary');
  if (!t || e.ctrlKey || e.metaKey || e.shiftKey) return;
  if (t.matches('a[data-swap]')) { e.preventDefault(); swap(t.dataset.swap, t.href, {}, t.hasAttribute('data-push')); return; }
  if (t.matches('a[data-rows]')) { e.preventDefault(); unfold(t); return; }
  if (t.matches('.fold')) { t.ariaExpanded = String(t.ariaExpanded !== 'true'); return; }
  if (t.matches('[data-menu]')) { t.ariaExpanded = String($('#side').classList.toggle('open')); return; }
  if (t.matches('[data-copy]')) { navigator.clipboard?.writeText(t.dataset.text ?? document.getElementById(t.dataset.copy).textContent); say('Copied'); t.classList.add('copied'); return; }
  if (t.matches('[data-clear]')) { $$('.sel:checked').forEach((c) => { c.checked = false; }); count(); return; }
  if (t.matches('[data-palette]') && palette()) { e.preventDefault(); return; }
  if (t.matches('[data-help]')) $('#help').showModal();
});

// Search as you type: a form with data-live sends itself 150 ms after the last key.
let typing;
addEventListener('input', (e) => {
  const form = e.target.closest('form[data-live]');
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => form.requestSubmit(), 150);
});

// The bar of decisions about many is there while something is selected.
function count() {
  const n = $$('.sel:checked').length, bar = $('#bulk');
  if (bar?.hasAttribute('data-fixed')) { bar.hidden = false; return; }
  if (bar) { bar.hidden = !n; $('[data-count]', bar).textContent = n; }
  if (n) $$('[type=hidden][name=f]', bar ?? document.createElement('i')).forEach((e) => e.remove());
}
addEventListener('change', (e) => {
  if (e.target.matches('.sel')) count();
  if (e.target.matches('[data-all]')) { $$('.sel', e.target.closest('section, main')).forEach((c) => { c.checked = e.target.checked; }); count(); }
  if (e.target.matches('[data-keys]')) localStorage.setItem('keys', e.target.checked ? '' : 'off');
  if (e.target.matches('select[data-send]')) e.target.form.requestSubmit();
});

// begin looks for what a page, or a part that was swapped in, wants.
const near = new IntersectionObserver((entries) => {
  for (const e of entries) if (e.isIntersecting) { near.unobserve(e.target); load(e.target); }
}, {rootMargin: '600px'});
async function load(place) {
  const answer = await fetch(place.dataset.load);
  if (!answer.ok) { place.textContent = 'This could not be loaded.'; return; }
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if ($('body.bare', page)) { location.reload(); return; } // the session has ended
  place.replaceWith(...page.body.childNodes);
  begin();
}

// unfold puts the rows of the table that a link leads to in the place of its own row.
async function unfold(link) {
  const answer = await fetch(link.href);
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if ($('body.bare', page)) { location.reload(); return; }
  const rows = $$('.diff tbody > tr', page);
  if (!answer.ok) { say('These lines can\'t be shown'); return; }
  link.closest('tr').replaceWith(...rows);
}

let events;
function begin() {
  $$('[data-load]:not([data-seen])').forEach((e) => { e.dataset.seen = ''; near.observe(e); });
  const watched = $('[data-events]');
  if (events && (!watched || events.path !== watched.dataset.events)) { events.close(); events = null; }
  if (watched && !events) listen(watched.dataset.events);
  count();
}

// Live progress: each message has the page's parts loaded again.
function listen(path) {
  events = new EventSource(path);
  events.path = path;
  events.onmessage = (e) => { const place = $('[data-events]'); if (place) swap(place.dataset.parts, place.dataset.from ?? location.href, {live: true}); if (e.data === 'end') { events.close(); } };
}
addEventListener('visibilitychange', () => {
  if (document.hidden) { events?.close(); events = null; } else begin();
});

// The palette goes elsewhere: words, arrows, Enter.
function palette() {
  const box = $('#palette'), form = $('form', box ?? $('#main'));
  if (!box) { $('#main [data-search]')?.focus(); return false; }
  if (!box.open) { box.showModal(); form.reset(); form.requestSubmit(); }
  $('input', box).focus();
  return true;
}
function walk(e) {
  const all = [$('input', e.currentTarget), ...$$('#went a', e.currentTarget)], i = all.indexOf(document.activeElement);
  if (e.key === 'Enter' && i === 0) {
    e.preventDefault();
    if ($('#went', e.currentTarget).dataset.query !== all[0].value) all[0].form.submit(); // the list is of other words
    else all[1]?.click();
  }
  const step = {ArrowDown: 1, ArrowUp: -1}[e.key];
  if (step && i >= 0) { e.preventDefault(); all[(i + step + all.length) % all.length].focus(); }
}
$('#palette')?.addEventListener('keydown', walk);
addEventListener('keydown', (e) => { if ((e.ctrlKey || e.metaKey) && e.key === 'k' && $('#palette')) { e.preventDefault(); palette(); } });

// Keys. None works with a modifier, in a field, or when switched off.
let cur = null, lead = 0;
function go(step, only) {
  const all = $$('.fd').filter((e) => !only || e.dataset.state === only);
  if (!all.length) return;
  let i = cur?.isConnected ? all.indexOf(cur) : -1;
  if (i < 0 && cur?.isConnected) i = all.findIndex((e) => cur.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) - (step > 0 ? 1 : 0);
  cur?.classList.remove('cur');
  cur = all[Math.min(Math.max(i + step, 0), all.length - 1)];
  cur.classList.add('cur');
  cur.focus({preventScroll: true});
  cur.scrollIntoView({block: 'center', behavior: 'instant'});
}
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || localStorage.getItem('keys') === 'off' && e.key !== '?') return;
  if (e.target.closest('dialog[open]')) return;
  if (e.target.matches('input:not([type=checkbox]), textarea, select')) { if (e.key === 'Escape') e.target.blur(); return; }
  if (cur && !cur.isConnected) { cur = document.getElementById(cur.id); cur?.classList.add('cur'); }
  if (lead > Date.now()) {
    lead = 0;
    const to = $(`[data-go="${CSS.escape(e.key)}"]`);
    if (to) { to.click(); e.preventDefault(); }
    return;
  }
  const press = (key) => (cur && $(`[data-key="${key}"]`, cur) || (key === 'u' ? $('#toast [data-key=u]') : null))?.click();
  switch (e.key) {
    case 'j': go(1); break;
    case 'k': go(-1); break;
    case 'n': go(1, 'new'); break;
    case 'a': case 'f': case 'w': case 'u': press(e.key); break;
    case 'x': $('.sel', cur ?? document.createElement('i'))?.click(); break;
    case 'o': (cur?.closest('.file') ? $('.fold', cur.closest('.file')) : null)?.click(); break;
    case 'g': lead = Date.now() + 900; break;
    case '/': $('[data-search]')?.focus(); break;
    case '?': $('#help')?.showModal(); break;
    default: return;
  }
  e.preventDefault();
});
if ($('[data-keys]')) $('[data-keys]').checked = localStorage.getItem('keys') !== 'off';
begin();
// A link to a finding that the page doesn't have asks for the page that has it.
if (/^#x[0-9a-f]+$/.test(location.hash) && !$(location.hash) && $('#files') && !new URLSearchParams(location.search).has('at')) location.replace(`${location.pathname}?at=${location.hash.slice(2)}${location.hash}`);
