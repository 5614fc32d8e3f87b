// Measures fairness: the latency of a client's gets and creates, without load and while one client sends 200 lists of 10,000 pods at a time
// and another 200 creates. Prints one JSON line per figure, with the CPU time of the server's main thread between a request and its response:
// on a busy machine it is the part of the wait that the server causes.
//   --program FILE  a program to run with node instead of bin/coxswain
//   --pods NUMBER --seconds NUMBER --connections NUMBER
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Client, http2Client } from './load/client.ts'
import { inParallel, quantile, rounded } from './load/measure.ts'
import { podText } from './load/pod.ts'
import { pause, startServer } from './load/server.ts'
import { type Target, readTarget } from './load/target.ts'

const { values: args } = parseArgs({
  options: {
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    pods: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
    attack: { type: 'string' },
    kubeconfig: { type: 'string' },
  },
})

const atOnce = 200
const configMaps = '/api/v1/namespaces/default/configmaps'
const someMap = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })

/** The same server as somebody who is no administrator. */
const as = (target: Target, token: string): Target => ({
  url: target.url,
  tls: { ca: target.tls.ca, rejectUnauthorized: true },
  headers: { authorization: `Bearer ${token}` },
})

/** Asks without end, so many at once; what is refused comes again a little later. */
async function attack(kind: string, target: Target): Promise<void> {
  const client = await http2Client(as(target, kind), Number(args.connections))
  let next = 0
  const one = async (): Promise<void> => {
    for (;;) {
      const { code } = kind === 'lists' ? await client.send('GET', '/api/v1/pods') : await client.send('POST', configMaps, someMap(`x-${process.pid}-${next++}`))
      if (code === 429) await pause(100)
    }
  }
  process.send?.('begun')
  await Promise.all(Array.from({ length: atOnce }, one))
}

interface Wait {
  ms: number
  serverCpuMs: number
}

interface Waits {
  get: Wait[]
  create: Wait[]
}

/** The CPU time of a process's main thread. */
const cpuMs = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

let made = 0
async function probe(client: Client, pid: number, seconds: number): Promise<Waits> {
  const waits: Waits = { get: [], create: [] }
  const timed = async (into: Wait[], one: () => Promise<{ code: number; text: string }>) => {
    const usedMs = cpuMs(pid)
    const started = performance.now()
    const { code, text } = await one()
    if (code >= 400) throw new Error(`refused with ${code}: ${text}`)
    into.push({ ms: performance.now() - started, serverCpuMs: cpuMs(pid) - usedMs })
  }
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
    await timed(waits.get, () => client.send('GET', `${configMaps}/kube-root-ca.crt-none`).then((answer) => ({ ...answer, code: answer.code === 404 ? 200 : answer.code })))
    await timed(waits.create, () => client.send('POST', configMaps, someMap(`probe-${made++}`)))
    await pause(2)
  }
  return waits
}

function tell(when: string, waits: Waits): void {
  for (const [verb, all] of Object.entries(waits) as [string, Wait[]][]) {
    const values = all.map(({ ms }) => ms)
    const cpu = all.map(({ serverCpuMs }) => serverCpuMs)
    const serverCpuMs = { p50: rounded(quantile(cpu, 0.5)), p99: rounded(quantile(cpu, 0.99)) }
    const detail = { p50: rounded(quantile(values, 0.5)), longest: rounded(Math.max(...values)), count: values.length, serverCpuMs }
    console.log(JSON.stringify({ figure: `${verb} of somebody else, ${when}, p99`, value: rounded(quantile(values, 0.99)), unit: 'ms', detail }))
  }
}

/** Other work on the machine makes the server wait, which says nothing about it; where that is allowed it comes first. */
function beforeOthers(pid: number): void {
  try {
    setPriority(pid, -15)
  } catch {
    // Only root may.
  }
}

async function startAttack(kind: string, kubeconfig: string): Promise<ChildProcess> {
  const child = spawn('nice', ['-n', '5', process.execPath, path.resolve('scripts/run-ts.mjs'), 'bench/fairness.ts', '--attack', kind, '--kubeconfig', kubeconfig, '--connections', args.connections], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  await once(child, 'message')
  return child
}

if (args.attack) {
  await attack(args.attack, readTarget(args.kubeconfig!))
} else {
  const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-fairness-'))
  const tokens = path.join(dir, 'tokens.csv')
  writeFileSync(tokens, 'lists,lister,1\ncreates,creator,2\nprobe,prober,3\n')
  // Administrators are exempt from fairness: these users are none, and have no roles.
  const server = await startServer(args.program, [], ['--token-auth-file', tokens, '--authorization-mode', 'AlwaysAllow'])
  const attackers: ChildProcess[] = []
  try {
    for (const pid of [server.pid, process.pid]) beforeOthers(pid)
    const target = readTarget(server.kubeconfig)
    const admin = await http2Client(target, 2)
    let i = 0
    await inParallel(Number(args.pods), 64, () => admin.send('POST', '/api/v1/namespaces/default/pods', podText(`pod-${i++}`)))
    const client = await http2Client(as(target, 'probe'), 1)
    await probe(client, server.pid, 1)
    tell('quiet', await probe(client, server.pid, Number(args.seconds)))
    for (const kind of ['lists', 'creates']) attackers.push(await startAttack(kind, server.kubeconfig))
    await pause(1000)
    tell('beside 200 lists and 200 creates at a time', await probe(client, server.pid, Number(args.seconds)))
    client.close()
    admin.close()
  } finally {
    for (const child of attackers) child.kill('SIGKILL')
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
  process.exit(0)
}
