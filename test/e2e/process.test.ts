import { closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, runCoxswain, startServer } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

let dir: string
const within = (name: string) => path.join(dir, name)
const portOf = (server: RunningServer) => new URL(server.url).port

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'coxswain-process-'))
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('a server that cannot start', () => {
  const start = (name: string, ...flags: string[]) => runCoxswain(['apiserver', '--data-dir', within(name), '--secure-port', '0', ...flags])

  it.each([
    ['a feature gate that does not exist', ['--feature-gates', 'Sails=true'], 'unrecognized feature gate: Sails'],
    ['a value that a feature gate cannot have', ['--feature-gates', 'DaemonSetConditions=perhaps'], 'invalid value of DaemonSetConditions=perhaps, err: strconv.ParseBool: parsing "perhaps": invalid syntax'],
    ['a port that is none', ['--secure-port', '70000'], 'must be a port number from 0 to 65535'],
    ['a flag that does not exist', ['--sails'], "unknown option '--sails'"],
    ['a store that does not exist', ['--store', 'paper'], 'Allowed choices are lmdb, memory, etcd.'],
    ['a token file that does not exist', ['--token-auth-file', '/nonexistent/tokens'], '/nonexistent/tokens'],
    ['a config file that does not exist', ['--config', '/nonexistent/config'], '/nonexistent/config'],
  ])('says in one line why: %s', async (_, flags, reason) => {
    const { code, out, err } = await start('refused', ...flags)
    expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 1, out: '', lines: 1 })
    expect(err).toContain(reason)
  })

  it('says that the port is in use', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const ended = await start('port', '--secure-port', String(port))
    taken.close()
    expect(ended).toEqual({ code: 1, out: '', err: `coxswain: port ${port} is already in use: choose another with --secure-port, or 0 for a free one\n` })
  })

  it('says that the data directory is in use, and by whom', async () => {
    const first = await startServer(within('shared'), ['--store', 'lmdb'])
    const second = await start('shared')
    expect(second).toEqual({ code: 1, out: '', err: `coxswain: the data directory ${within('shared/db')} is in use by process ${first.pid}\n` })
    expect(await first.stop()).toMatchObject({ code: 0 })
  })

  it('says that the store is corrupt, and leaves it alone', async () => {
    const server = await startServer(within('sound'), ['--store', 'lmdb'])
    expect(await server.stop()).toMatchObject({ code: 0 })
    const file = within('corrupt/db/data.mdb')
    mkdirSync(path.dirname(file), { recursive: true })
    copyFileSync(within('sound/db/data.mdb'), file)
    const fd = openSync(file, 'r+')
    writeSync(fd, 'this is not a database at all, not even a bit of one', 0)
    closeSync(fd)
    const before = readFileSync(file)
    const { code, out, err } = await start('corrupt')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^coxswain: the data file \S+\/data\.mdb is corrupt: [^\n]+\n$/)
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

describe('--config', () => {
  it('holds flags, over which the command line wins', async () => {
    const file = within('config.yaml')
    writeFileSync(file, `data-dir: /nonexistent/never-used\nstore: memory\nsecure-port: 0\nkubeconfig-out: ${within('written.kubeconfig')}\nfeature-gates:\n  DaemonSetConditions: false\n`)
    const server = await startServer(within('configured'), ['--config', file])
    expect(server.kubeconfig).toBe(within('written.kubeconfig'))
    const kubectl = new Kubectl(server.kubeconfig)
    expect(await kubectl.ok('get namespaces -o name')).toBe('namespace/default\nnamespace/kube-node-lease\nnamespace/kube-public\nnamespace/kube-system\n')
    kubectl.remove()
    await server.stop()
  })

  it.each([
    ['a flag that does not exist', 'sails: 3\n', 'unknown flag "sails"'],
    ['a value that is not valid', 'feature-gates: {Sails: true}\n', 'feature-gates: unrecognized feature gate: Sails'],
  ])('is refused with %s', async (_, text, reason) => {
    const file = within('bad.yaml')
    writeFileSync(file, text)
    expect(await runCoxswain(['apiserver', '--config', file])).toEqual({ code: 1, out: '', err: `coxswain: ${file}: ${reason}\n` })
  })
})

describe('a server that is stopped', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends at %s within five seconds, even while it is watched', async (signal) => {
    const server = await startServer(within(signal))
    const kubectl = new Kubectl(server.kubeconfig)
    const watch = kubectl.start('get pods --watch')
    await watch.watching()
    const began = performance.now()
    expect(await server.stop(signal)).toMatchObject({ code: 0, err: '' })
    expect(performance.now() - began).toBeLessThan(5000)
    await watch.stop()
    kubectl.remove()
  })

  it('ends cleanly even the moment that it is ready', async () => {
    const servers = await Promise.all([1, 2, 3].map(async (i) => (await startServer(within(`moment-${i}`))).stop()))
    expect(servers.map((s) => s.code)).toEqual([0, 0, 0])
  })

  it('has everything again when it is started on the same data', async () => {
    const first = await startServer(within('kept'))
    const kubectl = new Kubectl(first.kubeconfig)
    await kubectl.ok('create configmap kept --from-literal=a=b')
    const before = await kubectl.ok('get configmap kept -o yaml')
    await kubectl.ok('delete configmap kept --dry-run=server')
    const { metadata } = JSON.parse(await kubectl.ok('get --raw /api/v1/namespaces/default/configmaps')) as { metadata: { resourceVersion: string } }
    await kubectl.ok('create configmap second')
    await kubectl.ok('label configmap kept x=y')
    await kubectl.ok('delete configmap second')
    expect(await first.stop()).toMatchObject({ code: 0 })

    const again = await startServer(within('kept'), ['--secure-port', portOf(first)])
    expect(await kubectl.ok('get configmap kept -o yaml').then((text) => text.replace(/ {2}labels:\n {4}x: "?y"?\n/, '').replace(/resourceVersion.*/, ''))).toBe(before.replace(/resourceVersion.*/, ''))
    // A watch goes on from where a client was before the restart.
    const events = await kubectl.ok(`get --raw /api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`)
    expect(events.trim().split('\n').map((line) => JSON.parse(line) as { type: string; object: { metadata: { name: string } } }).map((e) => `${e.type} ${e.object.metadata.name}`)).toEqual([
      'ADDED second',
      'MODIFIED kept',
      'DELETED second',
    ])
    await again.stop()
    kubectl.remove()
  })

  it('has everything again when it was killed', async () => {
    const first = await startServer(within('killed'))
    const kubectl = new Kubectl(first.kubeconfig)
    await kubectl.ok('create deployment web --image=nginx:1.27')
    const version = await kubectl.ok('get deployment web -o jsonpath={.metadata.uid}/{.metadata.resourceVersion}')
    expect(await first.stop('SIGKILL')).toMatchObject({ code: 'SIGKILL' })
    const again = await startServer(within('killed'), ['--secure-port', portOf(first)])
    expect(await kubectl.ok('get deployment web -o jsonpath={.metadata.uid}/{.metadata.resourceVersion}')).toBe(version)
    // The next write has a later revision than all writes before.
    await kubectl.ok('scale deployment web --replicas=3')
    expect(Number(await kubectl.ok('get deployment web -o jsonpath={.metadata.resourceVersion}'))).toBeGreaterThan(Number(version.split('/')[1]))
    await again.stop()
    kubectl.remove()
  })
})
