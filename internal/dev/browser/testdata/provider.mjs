// An identity provider for the tests of single sign-on, made of the package
// oidc-provider. Arguments: where its modules are, and where people are sent back to.
// It prints its address. Who signs in as NAME is NAME@example.com, in the groups that
// /groups?name=NAME&group=GROUP gave last. Whose name begins with un- has an email that
// nobody has checked.
import {createRequire} from 'node:module';
import {createServer} from 'node:http';
import {pathToFileURL} from 'node:url';

const [modules, callback] = process.argv.slice(2);
const require = createRequire(modules + '/');
const {default: Provider} = await import(pathToFileURL(require.resolve('oidc-provider')));

const groups = new Map();
const account = (name) => ({
  sub: name, email: `${name}@example.com`, email_verified: !name.startsWith('un-'), name, groups: groups.get(name) ?? [],
});
const server = createServer((request, response) => {
  const url = new URL(request.url, issuer());
  if (url.pathname !== '/groups') return handle(request, response);
  groups.set(url.searchParams.get('name'), url.searchParams.getAll('group'));
  return response.end();
});
server.listen(0, '127.0.0.1', () => console.log(issuer()));
const issuer = () => `http://127.0.0.1:${server.address().port}`;
let handle = (_, response) => response.end();
server.on('listening', () => {
  const provider = new Provider(issuer(), {
    clients: [{
      client_id: 'prwarden', token_endpoint_auth_method: 'none', redirect_uris: [callback],
      grant_types: ['authorization_code'], response_types: ['code'],
    }],
    pkce: {required: () => true},
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: {openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups']},
    conformIdTokenClaims: false,
    cookies: {keys: ['of the tests']},
    features: {devInteractions: {enabled: true}},
    findAccount: (_, id) => ({accountId: id, claims: () => account(id)}),
  });
  handle = provider.callback();
});
