import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { Proof } from '../transport/access.ts'
import { type LoadOptions, loadAccess } from './load.ts'

let dir: string
beforeEach(() => void (dir = mkdtempSync(path.join(tmpdir(), 'coxswain-kubeconfig-'))))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const base64 = (text: string) => Buffer.from(text).toString('base64')

function write(name: string, text: string): string {
  const file = path.join(dir, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const cluster = (name: string, fields: object) => ({ name, cluster: fields })
const user = (name: string, fields: object) => ({ name, user: fields })
const context = (name: string, fields: object) => ({ name, context: fields })

/** JSON is YAML. */
const config = (parts: object) => JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...parts })

/** A kubeconfig of one user. */
const ofUser = (fields: object, clusterFields: object = {}) =>
  config({
    clusters: [cluster('c', { server: 'https://c', ...clusterFields })],
    users: [user('u', fields)],
    contexts: [context('x', { cluster: 'c', user: 'u' })],
    'current-context': 'x',
  })

const load = (options: LoadOptions = {}) => loadAccess({ env: { HOME: dir }, isTerminal: false, ...options })

const loadText = (text: string, options: LoadOptions = {}) => load({ file: write('kubeconfig', text), ...options })

describe('loadAccess()', () => {
  it('reads the file at home in YAML, in the current context', async () => {
    write(
      '.kube/config',
      `
apiVersion: v1
kind: Config
preferences: {}
clusters:
- name: c
  cluster:
    server: https://example:6443/below
    certificate-authority-data: ${base64('an authority')}
    tls-server-name: other
    proxy-url: http://proxy:3128
users:
- name: u
  user:
    client-certificate-data: ${base64('a certificate')}
    client-key-data: ${base64('a key')}
contexts:
- name: x
  context: {cluster: c, user: u, namespace: mine}
current-context: x
`,
    )
    const access = await load()
    expect(access.server.href).toBe('https://example:6443/below')
    expect(access.authority()).toBe('an authority')
    expect(access).toMatchObject({ tlsServerName: 'other', insecureSkipTlsVerify: false, namespace: 'mine', headers: {} })
    expect(access.proxy!.href).toBe('http://proxy:3128/')
    expect(await access.credentials.current()).toEqual({ authorization: undefined, certificate: { certificate: 'a certificate', key: 'a key' } })
  })

  it('finds files next to the kubeconfig that names them, wherever that is', async () => {
    write('one/ca.crt', 'the authority')
    write('one/me.crt', 'the certificate')
    write('one/me.key', 'the key')
    const file = write('one/kubeconfig', ofUser({ 'client-certificate': 'me.crt', 'client-key': './me.key' }, { 'certificate-authority': 'ca.crt' }))
    const access = await load({ file })
    expect(access.authority()).toBe('the authority')
    expect(await access.credentials.current()).toMatchObject({ certificate: { certificate: 'the certificate', key: 'the key' } })
  })

  it.each([
    { name: 'a token', fields: { token: 't' }, proof: { authorization: 'Bearer t' } },
    { name: 'a name and a password', fields: { username: 'a', password: 'b:c' }, proof: { authorization: `Basic ${base64('a:b:c')}` } },
    { name: 'nothing', fields: {}, proof: {} },
    { name: 'a certificate in the file and beside it: what is inside counts', fields: { 'client-certificate-data': base64('inside'), 'client-certificate': 'nowhere', 'client-key-data': base64('k') }, proof: { certificate: { certificate: 'inside', key: 'k' } } },
  ])('proves who it is with $name', async ({ fields, proof }) => {
    expect(await (await loadText(ofUser(fields))).credentials.current()).toEqual(proof)
  })

  it.each([
    { name: 'nobody', fields: { token: 't' }, headers: {} },
    { name: 'a user', fields: { as: 'jane' }, headers: { 'impersonate-user': 'jane' } },
    {
      name: 'a user with uid, groups and extra',
      fields: { as: 'jane', 'as-uid': '7', 'as-groups': ['dev', 'ops'], 'as-user-extra': { 'Example.com/Team': ['a', 'b'] } },
      headers: { 'impersonate-user': 'jane', 'impersonate-uid': '7', 'impersonate-group': ['dev', 'ops'], 'impersonate-extra-example.com%2Fteam': ['a', 'b'] },
    },
  ])('acts as $name', async ({ fields, headers }) => {
    expect((await loadText(ofUser(fields))).headers).toEqual(headers)
  })

  it('reads a token file again when it has changed', async () => {
    const clock = new VirtualClock()
    const file = write('token', 'first\n')
    const { credentials } = await loadText(ofUser({ tokenFile: 'token', token: 'not this' }), { clock })
    const first = await credentials.current()
    expect(first.authorization).toBe('Bearer first')
    expect(await credentials.current()).toBe(first)
    writeFileSync(file, 'second')
    expect(await credentials.current()).toBe(first)
    await clock.advance(10_000)
    expect(await credentials.current()).toMatchObject({ authorization: 'Bearer second' })
    rmSync(file)
    await clock.advance(10_000)
    expect(await credentials.current()).toMatchObject({ authorization: 'Bearer second' })
  })

  it('reads a token file at once when the server refuses the token', async () => {
    const file = write('token', 'first')
    const { credentials } = await loadText(ofUser({ tokenFile: 'token' }), { clock: new VirtualClock() })
    const first = await credentials.current()
    expect(await credentials.refused(first)).toBe(false)
    writeFileSync(file, 'second')
    expect(await credentials.refused(first)).toBe(true)
    expect(await credentials.current()).toMatchObject({ authorization: 'Bearer second' })
  })

  it('has the same certificate while its file is the same, and another when it is not', async () => {
    const clock = new VirtualClock()
    const file = write('me.crt', 'one')
    write('me.key', 'key')
    const { credentials } = await loadText(ofUser({ 'client-certificate': 'me.crt', 'client-key': 'me.key' }), { clock })
    const { certificate } = await credentials.current()
    await clock.advance(120_000)
    expect((await credentials.current()).certificate).toBe(certificate)
    writeFileSync(file, 'two')
    await clock.advance(120_000)
    expect((await credentials.current()).certificate).toEqual({ certificate: 'two', key: 'key' })
  })

  it.each([
    { name: 'another context', choice: { context: 'y' }, server: 'https://d', token: 'Bearer v', namespace: 'default' },
    { name: 'another cluster', choice: { cluster: 'd' }, server: 'https://d', token: 'Bearer u', namespace: 'n' },
    { name: 'another user', choice: { user: 'v' }, server: 'https://c', token: 'Bearer v', namespace: 'n' },
    { name: 'another namespace', choice: { namespace: 'm' }, server: 'https://c', token: 'Bearer u', namespace: 'm' },
  ])('takes $name when told so', async ({ choice, server, token, namespace }) => {
    const text = config({
      clusters: [cluster('c', { server: 'https://c' }), cluster('d', { server: 'https://d' })],
      users: [user('u', { token: 'u' }), user('v', { token: 'v' })],
      contexts: [context('x', { cluster: 'c', user: 'u', namespace: 'n' }), context('y', { cluster: 'd', user: 'v' })],
      'current-context': 'x',
    })
    const access = await loadText(text, choice)
    expect([access.server.origin, ((await access.credentials.current()) as Proof).authorization, access.namespace]).toEqual([server, token, namespace])
  })

  it('runs as a pod of the cluster when there is no kubeconfig, and says so when it cannot', async () => {
    const env = { HOME: dir, KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
    await expect(load({ env })).rejects.toThrow(/^the service account's token cannot be read: .* does not exist$/)
    await expect(load({ env, context: 'x' })).rejects.toThrow(/^no kubeconfig found: /)
  })
})

describe('files of KUBECONFIG', () => {
  const first = {
    clusters: [cluster('red', { server: 'https://first' })],
    users: [user('me', { token: 'first' })],
  }
  const second = {
    clusters: [cluster('red', { server: 'https://second', 'tls-server-name': 'second' }), cluster('blue', { server: 'https://blue' })],
    users: [user('me', { username: 'second', password: 'p' }), user('you', { token: 'second' })],
    contexts: [context('red', { cluster: 'red', user: 'me' }), context('blue', { cluster: 'blue', user: 'you' })],
    'current-context': 'red',
  }
  const third = { contexts: [context('blue', { cluster: 'red', user: 'me' })], 'current-context': 'blue' }

  it.each([
    { name: 'an entry is taken whole from the first that has it', files: [first, second], server: 'https://first', proof: 'Bearer first' },
    { name: 'the order counts', files: [second, first], server: 'https://second', proof: `Basic ${base64('second:p')}` },
    { name: 'the first current context counts', files: [third, second, first], server: 'https://second', proof: `Basic ${base64('second:p')}` },
    { name: 'a context of the first file may name what is in the others', files: [{ ...third, 'current-context': '' }, first, second], choice: { context: 'blue' }, server: 'https://first', proof: 'Bearer first' },
  ])('are merged: $name', async ({ files, choice = {}, server, proof }) => {
    const list = files.map((f, i) => write(`f${i}`, config(f)))
    const access = await load({ env: { HOME: dir, KUBECONFIG: list.join(path.delimiter) }, ...choice })
    expect([access.server.origin, ((await access.credentials.current()) as Proof).authorization]).toEqual([server, proof])
    expect(access.tlsServerName).toBe(server === 'https://second' ? 'second' : undefined)
  })

  it('may be missing, empty or named twice', async () => {
    const list = [path.join(dir, 'nowhere'), '', write('empty', ''), write('f', config(second)), path.join(dir, 'f')]
    expect((await load({ env: { KUBECONFIG: list.join(path.delimiter) } })).server.origin).toBe('https://second')
  })

  it('each has paths relative to itself', async () => {
    write('b/ca.crt', 'of b')
    const one = write('a/config', config({ contexts: [context('x', { cluster: 'c', user: 'u' })], 'current-context': 'x' }))
    const two = write('b/config', config({ clusters: [cluster('c', { server: 'https://c', 'certificate-authority': 'ca.crt' })], users: [user('u', {})] }))
    expect((await load({ env: { KUBECONFIG: [one, two].join(path.delimiter) } })).authority()).toBe('of b')
  })
})

describe('loadAccess() says in one sentence', () => {
  const exec = (fields: object) => ofUser({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'c', interactiveMode: 'Never', ...fields } })

  it.each([
    { name: 'that a context is missing', text: ofUser({}), choice: { context: 'y' }, error: 'the kubeconfig has no context "y"; there is "x"' },
    { name: 'that a cluster is missing', text: config({ contexts: [context('x', { cluster: 'c', user: 'u' })], 'current-context': 'x' }), error: 'the kubeconfig has no cluster "c"; there is none' },
    { name: 'that a user is missing', text: ofUser({}), choice: { user: 'v' }, error: 'the kubeconfig has no user "v"; there is "u"' },
    { name: 'that a context names no cluster', text: config({ contexts: [context('x', { user: 'u' })], 'current-context': 'x' }), error: "the kubeconfig's context names no cluster" },
    { name: 'that no context is chosen', text: config({ contexts: [context('x', {}), context('y', {})] }), error: 'the kubeconfig has no current context; choose one of "x", "y"' },
    { name: 'that a cluster has no server', text: ofUser({}, { server: '' }), error: 'cluster "c" of the kubeconfig has no server' },
    { name: 'that a server is no URL', text: ofUser({}, { server: 'ftp://a' }), error: 'server "ftp://a" of cluster "c" is not a URL' },
    { name: 'that an authority and no verification exclude each other', text: ofUser({}, { 'certificate-authority-data': base64('a'), 'insecure-skip-tls-verify': true }), error: 'cluster "c" has both a certificate-authority and insecure-skip-tls-verify' },
    { name: 'that data is not base64', text: ofUser({ 'client-certificate-data': '%' }), error: 'client-certificate-data of user "u" is not base64' },
    { name: 'that a certificate has no key', text: ofUser({ 'client-certificate-data': base64('a') }), error: 'user "u" has a client-certificate without a client-key' },
    { name: 'that there are two ways to log in', text: ofUser({ token: 'a', username: 'b' }), error: 'user "u" has both a token and a password' },
    { name: 'that groups need a user', text: ofUser({ 'as-groups': ['a'] }), error: 'user "u" impersonates a uid, groups or extra without a user' },
    { name: 'that auth-provider is gone', text: ofUser({ 'auth-provider': { name: 'gcp' } }), error: 'user "u" has auth-provider "gcp", which Kubernetes has removed: use an exec plug-in' },
    { name: 'that a proxy is of an unknown kind', text: ofUser({}, { 'proxy-url': 'socks5://p' }), error: 'proxy "socks5://p" is not supported: use an http or https proxy' },
    { name: 'that a plug-in has no command', text: exec({ command: '' }), error: 'exec plug-in of user "u" has no command' },
    { name: 'that a plug-in has an unknown version', text: exec({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }), error: 'exec plug-in of user "u" has apiVersion "client.authentication.k8s.io/v1alpha1"; there is client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1' },
    { name: 'that a plug-in has no mode', text: exec({ interactiveMode: undefined }), error: 'exec plug-in of user "u" has no interactiveMode' },
    { name: 'that a plug-in has an unknown mode', text: exec({ interactiveMode: 'Maybe' }), error: 'exec plug-in of user "u" has interactiveMode "Maybe"; there is Never, IfAvailable, Always' },
    { name: 'that a plug-in needs a terminal', text: exec({ interactiveMode: 'Always' }), error: 'exec plug-in of user "u" needs a terminal, but standard input is not one' },
  ])('$name', async ({ text, choice = {}, error }) => {
    await expect(loadText(text, choice)).rejects.toThrow(new Error(error))
  })

  it.each([
    { name: 'that a file is missing', fields: { 'client-certificate': 'me.crt', 'client-key-data': base64('k') }, error: 'client-certificate of user "u" cannot be read: DIR/me.crt does not exist' },
    { name: 'that a token file is missing', fields: { tokenFile: '/nowhere/token' }, error: 'tokenFile of user "u" cannot be read: /nowhere/token does not exist' },
  ])('$name, and where it was looked for', async ({ fields, error }) => {
    await expect(loadText(ofUser(fields))).rejects.toThrow(error.replace('DIR', dir))
  })

  it.each([
    { name: 'is not YAML', text: 'a: [', error: /^kubeconfig FILE is not YAML: / },
    { name: 'is something else', text: '[]', error: /^kubeconfig FILE is not a kubeconfig$/ },
    { name: 'is of another kind', text: '{"kind":"Pod"}', error: /^kubeconfig FILE is of kind "Pod", not Config$/ },
    { name: 'is empty', text: '', error: /^no kubeconfig found: FILE is empty$/ },
    { name: 'has a field of the wrong type', text: config({ users: [user('u', { token: 7 })] }), error: /^kubeconfig FILE: users\[0\]\.user\.token must be a string$/ },
    { name: 'has an entry without a name', text: config({ users: [{}] }), error: /^kubeconfig FILE: users\[0\]\.name is missing$/ },
    { name: 'has a name twice', text: config({ users: [user('u', {}), user('u', {})] }), error: /^kubeconfig FILE: users has "u" twice$/ },
    { name: 'has no list where there should be one', text: config({ users: 'u' }), error: /^kubeconfig FILE: users must be a list$/ },
  ])('that the file $name', async ({ text, error }) => {
    const file = write('kubeconfig', text)
    await expect(load({ file })).rejects.toThrow(new RegExp(error.source.replace('FILE', file)))
  })

  it('that the file is not there', async () => {
    await expect(load({ file: '/nowhere/kubeconfig' })).rejects.toThrow('kubeconfig /nowhere/kubeconfig does not exist')
    await expect(load()).rejects.toThrow(`no kubeconfig found: ${dir}/.kube/config does not exist or is empty`)
    await expect(load({ env: { KUBECONFIG: '/a:/b' } })).rejects.toThrow('no kubeconfig found: /a and /b do not exist or are empty')
  })
})
