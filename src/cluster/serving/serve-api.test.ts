import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { FeatureGates } from '../../api/feature-gates.ts'
import { silentLogger } from '../../base/logger.ts'
import { loadAuthority } from '../keys/pki.ts'
import { type RunningApi, serveApi } from './serve-api.ts'
import type { ServeOptions } from './serve-options.ts'

let dir: string
const running: RunningApi[] = []

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'serve-api-'))
})

afterEach(async () => {
  for (const api of running.splice(0)) await api.stop()
  rmSync(dir, { recursive: true })
})

async function start(more: Partial<ServeOptions> = {}): Promise<RunningApi> {
  const api = await serveApi({
    dataDir: path.join(dir, 'data'),
    store: 'memory',
    bindAddress: '127.0.0.1',
    securePort: 0,
    kubeconfigOut: undefined,
    tokenAuthFile: undefined,
    clientCaFile: undefined,
    disabledAdmission: [],
    gates: FeatureGates.of(),
    release: '0.0.0-test',
    logger: silentLogger,
    ...more,
  })
  running.push(api)
  return api
}

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[]
  users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[]
}

/** Asks as the user of a kubeconfig, or with a token alone. */
function ask(kubeconfig: string, url: string, token?: string): Promise<{ code: number; text: string }> {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig
  const decode = (text: string) => Buffer.from(text, 'base64').toString()
  const { cluster } = clusters[0]!
  const { user } = users[0]!
  const who = token ? { headers: { authorization: `Bearer ${token}` } } : { cert: decode(user['client-certificate-data']), key: decode(user['client-key-data']) }
  return new Promise((resolve, reject) => {
    const sent = request(new URL(url, cluster.server), { agent: false, ca: decode(cluster['certificate-authority-data']), ...who }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ code: response.statusCode!, text }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('serveApi()', () => {
  it('serves on a free port to who has its kubeconfig', async () => {
    const { kubeconfig, url } = await start()
    expect(kubeconfig).toBe(path.join(dir, 'data/kubeconfig'))
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:[1-9]\d+$/)
    expect((await ask(kubeconfig, '/api/v1/namespaces/default')).code).toBe(200)
  })

  it('knows tokens out of a file', async () => {
    const tokenAuthFile = path.join(dir, 'tokens')
    writeFileSync(tokenAuthFile, 'sesame,ali,1,"thieves"\n')
    const { kubeconfig } = await start({ tokenAuthFile })
    expect([(await ask(kubeconfig, '/api', 'sesame')).code, (await ask(kubeconfig, '/api', 'simsim')).code]).toEqual([200, 401])
  })

  it('writes its kubeconfig where it is told to', async () => {
    const kubeconfigOut = path.join(dir, 'elsewhere')
    expect((await start({ kubeconfigOut })).kubeconfig).toBe(kubeconfigOut)
    expect(existsSync(path.join(dir, 'data/kubeconfig'))).toBe(false)
  })

  it('leaves its kubeconfig alone over a restart while it leads there, and else writes it anew', async () => {
    const kubeconfig = path.join(dir, 'data/kubeconfig')
    const first = await start({ store: 'lmdb' })
    const { port } = new URL(/server: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))![1]!)
    await first.stop()
    running.length = 0
    const line = 'cluster: coxswain\n'
    const edited = readFileSync(kubeconfig, 'utf8').replace(line, `${line}    namespace: team\n`)
    writeFileSync(kubeconfig, edited)
    const second = await start({ store: 'lmdb', securePort: Number(port) })
    expect(readFileSync(kubeconfig, 'utf8')).toBe(edited)
    expect((await ask(second.kubeconfig, '/api')).code).toBe(200)
    await second.stop()
    running.length = 0
    for (const broken of [edited.replace(`:${port}`, ':1'), edited.replace(/client-certificate-data: .*/, 'x: y'), '']) {
      writeFileSync(kubeconfig, broken)
      const next = await start({ store: 'lmdb', securePort: Number(port) })
      expect(readFileSync(kubeconfig, 'utf8')).not.toBe(broken)
      expect((await ask(next.kubeconfig, '/api')).code).toBe(200)
      await next.stop()
      running.length = 0
    }
  })

  it('keeps objects, and the trust of its clients, over a restart', async () => {
    const first = await start({ store: 'lmdb' })
    const uid = JSON.parse((await ask(first.kubeconfig, '/api/v1/namespaces/default')).text).metadata.uid as string
    const authority = readFileSync(path.join(dir, 'data/pki/ca.crt'), 'utf8')
    await first.stop()
    running.length = 0
    const second = await start({ store: 'lmdb' })
    expect(JSON.parse((await ask(second.kubeconfig, '/api/v1/namespaces/default')).text).metadata.uid).toBe(uid)
    expect(readFileSync(path.join(dir, 'data/pki/ca.crt'), 'utf8')).toBe(authority)
  })

  it('refuses a data directory that is in use, and leaves who uses it alone', async () => {
    const { kubeconfig } = await start({ store: 'lmdb' })
    await expect(start({ store: 'lmdb' })).rejects.toThrow(/in use|running|process/)
    expect((await ask(kubeconfig, '/readyz')).text).toBe('ok')
  })

  it('lets go of everything when its port is taken, so that the next start succeeds', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const securePort = (other.address() as AddressInfo).port
    await expect(start({ store: 'lmdb', securePort })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await new Promise((resolve) => other.close(resolve))
    await start({ store: 'lmdb', securePort })
  })

  it.each<[string, number, RegExp]>([
    ['not valid yet, as the clock was set back', 24, /^--data-dir: .* authority is not valid before .*clock of this machine/],
    ['expired', -20 * 365 * 24, /^--data-dir: .* authority has expired at /],
  ])('says in one sentence that its authority is %s', async (_what, hours, message) => {
    loadAuthority(path.join(dir, 'data'), Date.now() + hours * 3_600_000)
    await expect(start()).rejects.toThrow(message)
  })

  it('knows which admission plugins there are', async () => {
    await start({ disabledAdmission: ['Priority', 'PodSecurity'] })
    await expect(start({ disabledAdmission: ['bogus'] })).rejects.toThrow('disable-admission-plugins plugin "bogus" is unknown')
  })
})
