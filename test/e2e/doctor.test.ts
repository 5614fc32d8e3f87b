import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { kubeconfigText } from '../../src/cluster/keys/kubeconfig.ts'
import { createAuthority, issueClientCertificate } from '../../src/server/index.ts'
import { openLmdbStore } from '../../src/store/index.ts'
import { EtcdCluster } from '../etcd/etcd-cluster.ts'
import { LoopDisk } from '../loop-disk.ts'
import { type RunningServer, runCoxswain, startServer } from '../kubectl/coxswain.ts'

interface Finding {
  check: string
  level: string
  message: string
  help?: string
}

let root: string
/** A data directory of a server that has stopped. */
let sound: string
let dir: string

beforeAll(async () => {
  root = mkdtempSync(path.join(tmpdir(), 'doctor-'))
  sound = path.join(root, 'sound')
  await (await startServer(sound)).stop()
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const running: RunningServer[] = []
beforeEach(() => {
  dir = path.join(mkdtempSync(path.join(root, 'case-')), 'data')
  cpSync(sound, dir, { recursive: true, filter: (from) => !path.basename(from).startsWith('server-') && !path.basename(from).startsWith('owner-') })
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop('SIGKILL')
})

async function examine(dataDir: string, flags: readonly string[] = []): Promise<Finding[]> {
  const port = flags.includes('--secure-port') ? [] : ['--secure-port', '0']
  const { code, out, err } = await runCoxswain(['doctor', '-o', 'json', '--data-dir', dataDir, ...port, ...flags])
  expect(err).toBe('')
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  expect(code).toBe(findings.some(({ level }) => level === 'problem') ? 3 : 0)
  return findings
}

/** This machine's disk may be slow or nearly full, its etcd may answer late, and the tests need not be run by root. */
const isOfThisMachine = ({ check, message }: Finding) =>
  check === 'runtime' || (check === 'disk' && /a sync takes|are free for/.test(message)) || (check === 'etcd' && /: etcd \S+, .*answers in \d+ ms$/.test(message))

/** Findings worse than ok, without those that this machine's own state adds. */
const worse = (findings: readonly Finding[]) => findings.filter((finding) => finding.level !== 'ok' && !isOfThisMachine(finding))

const pki = (name: string) => path.join(dir, 'pki', name)

describe('coxswain doctor on a directory of a server that is stopped', () => {
  it('finds nothing wrong in a sound one, and changes nothing', async () => {
    const before = readFileSync(path.join(dir, 'db/data.mdb'))
    const findings = await examine(dir)
    expect(worse(findings)).toEqual([])
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['node', 'clock', 'disk', 'store', 'certificates', 'ports', 'runtime']))
    expect(findings.find(({ check }) => check === 'store')?.message).toMatch(/^LMDB, format 2: all records were read and are valid; \d+ objects at revision \d+$/)
    expect(readFileSync(path.join(dir, 'db/data.mdb')).equals(before)).toBe(true)
  })

  it('says that there is nothing yet where there is nothing, and makes nothing', async () => {
    const findings = await examine(path.join(dir, 'none'))
    expect(worse(findings)).toEqual([])
    expect(findings.find(({ check }) => check === 'store')?.message).toContain('the first start creates it')
  })

  it('writes a line for each finding', async () => {
    const { out } = await runCoxswain(['doctor', '--data-dir', dir, '--secure-port', '0'])
    for (const line of out.trimEnd().split('\n')) expect(line).toMatch(/^(ok {5}|warning|problem) {2}(node|clock|disk|store|certificates|ports|server|runtime) +\S/)
  })

  const authorityOfAnother = () => createAuthority(Date.now())
  const yearsAgo = (years: number) => Date.now() - years * 365 * 24 * 3_600_000

  it.each<[what: string, breakIt: () => unknown, check: string, level: string, message: RegExp, help: RegExp]>([
    ['a damaged data file', () => damage(path.join(dir, 'db/data.mdb')), 'store', 'problem', /is corrupt: /, /Restore a backup/],
    ['a truncated data file', () => writeFileSync(path.join(dir, 'db/data.mdb'), readFileSync(path.join(dir, 'db/data.mdb')).subarray(0, 20_000)), 'store', 'problem', /is corrupt: /, /Restore a backup/],
    ['a data file of another program', () => writeFileSync(path.join(dir, 'db/data.mdb'), Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(9000)])), 'store', 'problem', /is not a data file of Coxswain: it is an SQLite database/, /another --data-dir/],
    ['a key of another authority', () => writeFileSync(pki('ca.key'), authorityOfAnother().key), 'certificates', 'problem', /ca\.crt and ca\.key are not a certificate and its key/, /Restore pki/],
    ['a certificate that is none', () => writeFileSync(pki('front-proxy-ca.crt'), 'hello'), 'certificates', 'problem', /front-proxy-ca\.crt and its key cannot be used/, /Restore pki/],
    ['an authority that has expired', () => replaceAuthority(yearsAgo(11)), 'certificates', 'problem', /the authority ca has expired on/, /plan a new cluster/],
    ['an authority that expires soon', () => replaceAuthority(yearsAgo(10) + 30 * 24 * 3_600_000), 'certificates', 'warning', /the authority ca expires on .*, in \d+ days/, /plan a new cluster/],
    ['an authority of the future', () => replaceAuthority(yearsAgo(-1)), 'certificates', 'problem', /is not valid before .*the clock of this machine is behind/, /Correct the clock/],
    ['a damaged key of tokens', () => writeFileSync(pki('sa.key'), 'hello'), 'certificates', 'problem', /sa\.key, which signs tokens/, /Restore pki/],
    ['a kubeconfig of another authority', () => foreignKubeconfig(), 'certificates', 'problem', /kubeconfig has a certificate of another authority/, /Remove the file/],
    ['keys that others may read', () => openUp(), 'certificates', 'problem', /other users of this machine may read .*ca\.key/, /chmod 700/],
    ['a store of the future', () => storeOfTheFuture(), 'clock', 'warning', /the clock was set back, or was ahead/, /Correct the clock/],
  ])('finds %s', async (_, breakIt, check, level, message, help) => {
    await breakIt()
    const findings = await examine(dir)
    expect(worse(findings)).toContainEqual({ check, level, message: expect.stringMatching(message), help: expect.stringMatching(help) })
  })

  it('finds a port that is taken', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const findings = await examine(dir, ['--secure-port', String(port)])
    expect(worse(findings)).toEqual([{ check: 'ports', level: 'problem', message: expect.stringContaining(`127.0.0.1:${port}: listen EADDRINUSE`), help: expect.stringContaining('Stop the program') }])
    await new Promise((resolve) => server.close(resolve))
  })

  it.skipIf(LoopDisk.problem())('finds a disk that is nearly full, and one that is read-only', async () => {
    const disk = LoopDisk.make(48)
    try {
      const data = path.join(disk.path, 'data')
      cpSync(dir, data, { recursive: true })
      expect(await examine(data)).toContainEqual({ check: 'disk', level: 'problem', message: expect.stringContaining('writes are rejected once it is full'), help: expect.stringContaining('Free some space') })
      disk.setReadOnly(true)
      const findings = await examine(data)
      expect(worse(findings)).toContainEqual({ check: 'disk', level: 'problem', message: expect.stringContaining('is not writable: EROFS'), help: expect.stringContaining('Mount it writable') })
      expect(findings.find(({ check }) => check === 'store')).toMatchObject({ level: 'ok', message: expect.stringContaining('are valid') })
    } finally {
      disk.remove()
    }
  })

  function damage(file: string): void {
    const bytes = readFileSync(file)
    for (let at = 8192; at < bytes.length; at += 4096) bytes.fill(0x55, at, at + 64)
    writeFileSync(file, bytes)
  }

  function replaceAuthority(nowMs: number): void {
    const { certificate, key } = createAuthority(nowMs)
    writeFileSync(pki('ca.crt'), certificate)
    writeFileSync(pki('ca.key'), key)
    for (const name of ['kubeconfig', 'controller-manager.conf', 'scheduler.conf', 'monitor.conf']) rmSync(path.join(dir, name), { force: true })
  }

  function foreignKubeconfig(): void {
    const other = authorityOfAnother()
    const client = issueClientCertificate(other, { commonName: 'x', organizations: [] }, Date.now())
    writeFileSync(path.join(dir, 'kubeconfig'), kubeconfigText('https://127.0.0.1:1', other.certificate, 'x', client))
  }

  function openUp(): void {
    chmodSync(dir, 0o755)
    chmodSync(path.join(dir, 'pki'), 0o755)
    chmodSync(pki('ca.key'), 0o644)
  }

  async function storeOfTheFuture(): Promise<void> {
    rmSync(path.join(dir, 'db'), { recursive: true })
    mkdirSync(path.join(dir, 'db'))
    const store = await openLmdbStore({ dir: path.join(dir, 'db'), clock: { now: () => Date.now() + 3_600_000, after: () => () => {} } })
    await store.write({ key: '/registry/pods/ns/a', expected: 0, value: Buffer.from('{}') })
    await store.close()
  }
})

describe('coxswain doctor beside a server', () => {
  it('asks it, and finds nothing wrong', async () => {
    const server = await startServer(dir)
    running.push(server)
    const findings = await examine(dir)
    expect(worse(findings)).toEqual([])
    const told = findings.map(({ check, message }) => `${check}: ${message}`)
    expect(told).toContainEqual(expect.stringMatching(`^store: lmdb is in use by process ${server.pid}, at revision \\d+, `))
    expect(told).toContainEqual(`server: process ${server.pid} serves ${server.url} and is ready`)
    expect(told).toContainEqual(expect.stringMatching(/^server: its certificate names 127\.0\.0\.1 and is valid until /))
  })

  it('finds one whose authority is not that of the directory', async () => {
    running.push(await startServer(dir))
    const { certificate, key } = createAuthority(Date.now())
    writeFileSync(pki('ca.crt'), certificate)
    writeFileSync(pki('ca.key'), key)
    const findings = await examine(dir)
    expect(worse(findings)).toContainEqual({ check: 'server', level: 'problem', message: expect.stringContaining("the server's certificate is not trusted"), help: expect.any(String) })
  })

  it('finds nobody where the server was killed', async () => {
    const server = await startServer(dir)
    await server.stop('SIGKILL')
    const findings = await examine(dir)
    expect(worse(findings)).toEqual([])
    expect(findings.find(({ check }) => check === 'ports')?.message).toContain('no server runs')
  })
})

describe('coxswain doctor with etcd', () => {
  it('finds members that are down, and a quorum that is gone', async () => {
    const etcd = await EtcdCluster.start({ members: 3 })
    try {
      const flags = ['--store', 'etcd', '--etcd-servers', etcd.urls.join(',')]
      const findEtcd = async () => {
        const findings = await examine(dir, flags)
        return findings.filter(({ check }) => check === 'etcd')
      }
      const all = await findEtcd()
      expect([all.length, worse(all)]).toEqual([4, []])
      expect(all.at(-1)!.message).toBe('3 of 3 members answer and have one leader; 1 more may fail')
      await etcd.members[0]!.kill()
      const one = await findEtcd()
      expect(one[0]).toMatchObject({ level: 'warning', message: expect.stringContaining('does not answer') })
      await etcd.members[1]!.kill()
      const two = await findEtcd()
      expect(two.at(-1)).toMatchObject({ level: 'problem', message: expect.stringContaining('1 of 3 members answer, 2 are needed') })
    } finally {
      await etcd.stop()
    }
  })
})
