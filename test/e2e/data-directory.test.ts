import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { runCoxswain, startEverything, startServer } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const parent = mkdtempSync(path.join(tmpdir(), 'coxswain-directory-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))

/** The processes of this machine whose environment names one of the containers. */
function processesOf(containers: readonly string[]): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      return containers.some((id) => environment.includes(`COXSWAIN_CONTAINER_ID=${id}`))
    } catch {
      // The process has ended meanwhile.
      return false
    }
  })
}

describe('coxswain stop and coxswain reset', () => {
  it('stop leaves pods running, and reset ends them and removes everything', async () => {
    const dataDir = path.join(parent, 'everything')
    const up = await startEverything(dataDir, ['--dashboard=false'])
    const kubectl = new Kubectl(up.kubeconfig)
    await kubectl.ok('create deployment web --image=nginx --replicas=2')
    await kubectl.ok('wait --for=condition=Available deployment/web --timeout=60s')
    const containers = readdirSync(path.join(dataDir, 'node/runtime/containers'))
    expect(containers).toHaveLength(2)
    const inUse = { code: 1, out: '', err: `coxswain: the data directory ${dataDir} is in use by process ${up.pid}: stop it first with coxswain stop\n` }
    expect(await runCoxswain(['reset', '--yes', '--data-dir', dataDir])).toEqual(inUse)

    const stopped = { code: 0, out: `stopped process ${up.pid}\n`, err: '' }
    expect(await runCoxswain(['stop', '--data-dir', dataDir])).toEqual(stopped)
    const farewell = 'Stopped. 2 pods go on, and the next start finds them; coxswain reset ends them.'
    expect(await up.stop()).toMatchObject({ code: 0, out: expect.stringContaining(farewell) as string })
    expect(await runCoxswain(['stop', '--data-dir', dataDir])).toEqual({ code: 0, out: `no process uses ${dataDir}\n`, err: '' })
    expect(processesOf(containers)).not.toEqual([])

    const unasked = { code: 1, out: '', err: 'coxswain: --yes must be specified if standard input is not a terminal\n' }
    expect(await runCoxswain(['reset', '--data-dir', dataDir])).toEqual(unasked)
    const removed = { code: 0, out: `removed ${dataDir}; ended 2 pods that still ran\n`, err: '' }
    expect(await runCoxswain(['reset', '--yes', '--data-dir', dataDir])).toEqual(removed)
    expect(existsSync(dataDir)).toBe(false)
    expect(processesOf(containers)).toEqual([])
  })

  it('stop finds a server that keeps nothing on disk', async () => {
    const dataDir = path.join(parent, 'memory')
    const server = await startServer(dataDir, ['--store', 'memory'])
    const second = await runCoxswain(['apiserver', '--store', 'memory', '--data-dir', dataDir, '--secure-port', '0'])
    expect(second).toMatchObject({ code: 1, err: expect.stringContaining(`is in use by process ${server.pid}`) as string })
    expect(await runCoxswain(['stop', '--data-dir', dataDir])).toMatchObject({ code: 0, out: `stopped process ${server.pid}\n` })
  })

  it.each(['stop', 'reset --yes'])('%s refuses a directory that does not exist', async (command) => {
    const directory = path.join(parent, 'nothing')
    expect(await runCoxswain([...command.split(' '), '--data-dir', directory])).toEqual({ code: 1, out: '', err: `coxswain: --data-dir: ${directory} does not exist\n` })
  })

  it('reset refuses a directory that is none of coxswain', async () => {
    const { code, err } = await runCoxswain(['reset', '--yes', '--data-dir', parent])
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('is not a data directory of coxswain') as string })
    expect(existsSync(parent)).toBe(true)
  })
})

describe('coxswain version', () => {
  it('tells its own version without a server', async () => {
    const { code, out } = await runCoxswain(['version', '--client', '-o', 'json'])
    expect({ code, node: (JSON.parse(out) as { clientVersion: { node: string } }).clientVersion.node }).toEqual({ code: 0, node: process.version })
  })

  it('tells its own version first where the server is away', async () => {
    const { code, out, err } = await runCoxswain(['version', '--kubeconfig', path.join(parent, 'none')])
    expect({ code, lines: out.trim().split('\n').length, isTold: err.length > 0 }).toEqual({ code: 1, lines: 2, isTold: true })
  })
})

it('a Node.js that is too old is told in one sentence', async () => {
  const pretend = `data:text/javascript,${encodeURIComponent('Object.defineProperty(process.versions, "node", { value: "18.20.8" })')}`
  const program = path.resolve(import.meta.dirname, '../../bin/coxswain')
  const failed: unknown = await promisify(execFile)(process.execPath, ['--import', pretend, program, 'up']).catch((e: unknown) => e)
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: `coxswain: needs Node.js 20.19 or newer, and this is v18.20.8\n` })
})
