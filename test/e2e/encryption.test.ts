import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type RunningServer, runCoxswain, startServer } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const root = mkdtempSync(path.join(tmpdir(), 'coxswain-encryption-'))
const data = path.join(root, 'data')
const file = path.join(root, 'encryption.yaml')

const keys = (...list: [string, number][]) =>
  list.map(([name, byte]) => `{name: ${name}, secret: "${Buffer.alloc(32, byte).toString('base64')}"}`).join(', ')
const configure = (providers: string) =>
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{resources: [secrets], providers: [${providers}]}]\n`,
    { mode: 0o600 },
  )

const flags = ['--encryption-provider-config', file, '--encryption-provider-config-automatic-reload']

let server: RunningServer | undefined
let kubectl: Kubectl
const start = async (more: readonly string[] = flags) => {
  server = await startServer(data, ['--store', 'lmdb', ...more])
  kubectl = new Kubectl(server.kubeconfig)
}
const stop = async () => {
  await server?.stop()
  server = undefined
  kubectl?.remove()
}
afterEach(stop)
afterAll(() => rmSync(root, { recursive: true }))

/** The number of occurrences of a text in the store's files. */
const inStore = (text: string) => {
  const dir = path.join(data, 'db')
  return readdirSync(dir)
    .map((name) => path.join(dir, name))
    .filter((name) => statSync(name).isFile() && readFileSync(name).includes(text)).length
}
const encoded = (text: string) => Buffer.from(text).toString('base64')
const password = (name: string) => kubectl.ok(`get secret ${name} -o jsonpath={.data.password}`)
const metric = async (status: string) => {
  const lines = (await kubectl.ok('get --raw /metrics')).split('\n')
  return lines.some(
    (line) =>
      line.startsWith('apiserver_encryption_config_controller_automatic_reloads_total') &&
      line.includes(`status="${status}"`),
  )
}
const until = async (what: string, isSo: () => Promise<boolean>) => {
  for (let left = 150; left > 0; left--) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`it did not come to pass: ${what}`)
}

describe('secrets at rest', () => {
  it('are not in the store in plain text, and are read after a restart', async () => {
    configure(`{aescbc: {keys: [${keys(['key1', 1])}]}}, {identity: {}}`)
    await start()
    await kubectl.ok('create secret generic one --from-literal=password=swordfish-of-the-deep')
    await kubectl.ok('create configmap open --from-literal=word=everybody-may-read-this')
    await stop()
    expect(inStore('k8s:enc:aescbc:v1:key1:')).toBe(1)
    expect([inStore('swordfish-of-the-deep'), inStore(encoded('swordfish-of-the-deep'))]).toEqual([0, 0])
    expect(inStore('everybody-may-read-this')).toBe(1)
    for (const name of readdirSync(path.join(data, 'db')))
      expect(statSync(path.join(data, 'db', name)).mode & 0o077).toBe(0)
    await start()
    expect(await password('one')).toBe(encoded('swordfish-of-the-deep'))
  })

  it('get another key without a restart, by kubectl get | kubectl replace', async () => {
    await start()
    configure(`{secretbox: {keys: [${keys(['key2', 2])}]}}, {aescbc: {keys: [${keys(['key1', 1])}]}}`)
    await until('the file is read again', () => metric('success'))
    await kubectl.ok('replace -f -', await kubectl.ok('get secrets -A -o json'))
    expect(inStore('k8s:enc:secretbox:v1:key2:')).toBe(1)
    // The old key is of no use any more.
    await stop()
    configure(`{secretbox: {keys: [${keys(['key2', 2])}]}}`)
    await start()
    expect(await password('one')).toBe(encoded('swordfish-of-the-deep'))
  })

  it('stay readable where a new file could not read them', async () => {
    await start()
    configure(`{aesgcm: {keys: [${keys(['key9', 9])}]}}`)
    await until('the file is refused', () => metric('failure'))
    await kubectl.ok('create secret generic two --from-literal=password=marlin')
    expect(await password('two')).toBe(encoded('marlin'))
    configure(`{secretbox: {keys: [${keys(['key2', 2])}]}}`)
  })

  it('whose key is missing end the start with their name, and are all there with the right one', async () => {
    configure(`{secretbox: {keys: [${keys(['key3', 3])}]}}`)
    const args = ['apiserver', '--data-dir', data, '--secure-port', '0']
    const wrong = await runCoxswain([...args, ...flags])
    expect(wrong.code).toBe(1)
    expect(wrong.err).toContain(
      'unable to transform key "/registry/secrets/default/one": no matching key was found for the provided Secretbox transformer',
    )
    const none = await runCoxswain(args)
    expect(none.err).toContain('identity transformer tried to read encrypted data')
    configure(`{secretbox: {keys: [${keys(['key2', 2])}]}}`)
    await start()
    expect(await password('one')).toBe(encoded('swordfish-of-the-deep'))
    expect(await password('two')).toBe(encoded('marlin'))
  })
})
