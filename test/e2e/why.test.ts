import { beforeAll, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'
import { runCoxswain, startNode } from '../kubectl/coxswain.ts'
import { type Situation, faults, objectsOf, situations } from './why-situations.ts'

const cluster = useEverything(['--runtime', 'simulated', '--nodes', '4', '--node-name', 'n'])

const list = (items: object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
const namespaceOf = ({ namespace = 'default' }: Situation) => namespace
const targetOf = ({ kind, name }: Situation) => `${kind.toLowerCase()}/${name}`

interface Explained {
  workload: { name: string }
  state: string
  message: string
  causes: { cause: string; object: { kind: string; name: string }; text: string; help: string }[]
}

/** The command's output for several workloads of a namespace, from one process. */
async function explain(namespace: string, some: readonly Situation[]): Promise<Explained[]> {
  const kubeconfig = ['--kubeconfig', cluster.server.kubeconfig, '-n', namespace]
  const { out, err } = await runCoxswain(['why', ...kubeconfig, '-o', 'json', ...some.map(targetOf)])
  if (!out) throw new Error(err)
  const told = JSON.parse(out) as Explained & { items?: Explained[] }
  return told.items ?? [told]
}

const namesIt = ({ cause, says, of = 'Pod' }: Situation, { causes: [first] }: Explained): boolean =>
  first?.cause === cause && says.test(first.text) && first.object.kind === of

/** The last thing that was said of each. */
const said = new Map<Situation, Explained>()

/** Asks again and again until the true cause is named first for all; what is not named in time fails its own test. */
async function untilNamed(all: readonly Situation[], limitMs: number): Promise<void> {
  let open = all
  for (const startMs = performance.now(); open.length > 0 && performance.now() - startMs < limitMs;) {
    for (const namespace of new Set(open.map(namespaceOf))) {
      const some = open.filter((one) => namespaceOf(one) === namespace)
      const told = await explain(namespace, some)
      for (const [i, one] of some.entries()) said.set(one, told[i]!)
    }
    open = open.filter((one) => !namesIt(one, said.get(one)!))
  }
}

beforeAll(async () => {
  const { kubectl } = cluster
  const namespaces = ['small', 'narrow'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
  const plan = kubectl.file('faults.json', JSON.stringify({ faults }))
  const lost = situations.filter(({ cause }) => cause === 'NodeLost')
  kubectl.file('namespaces.json', list(namespaces))
  kubectl.file('lost.json', list(lost.flatMap(objectsOf)))
  kubectl.file('others.json', list(situations.filter((one) => !lost.includes(one)).flatMap(objectsOf)))
  await kubectl.ok('wait --for=create serviceaccount/default --timeout=60s')
  // A node is given up after 50 seconds of silence: all others are staged meanwhile.
  const far = await startNode(cluster.server.kubeconfig, 'far')
  await kubectl.ok('apply -f lost.json -f namespaces.json')
  await kubectl.ok('wait --for=condition=Available deploy/lost sts/silent --timeout=60s')
  await kubectl.ok('cordon far n-3')
  await far.stop('SIGKILL')
  const { code, err } = await runCoxswain(['fault', 'add', '-f', plan, '--kubeconfig', cluster.server.kubeconfig])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  await kubectl.ok('apply -f others.json')
  const running = situations.filter(({ commands, cause }) => commands && cause !== 'BrokenOldPod').map(targetOf)
  await kubectl.ok(`wait --for=condition=Available ${running.join(' ')} --timeout=60s`)
  await kubectl.ok('wait --for=create pod/broken-0 --timeout=60s')
  for (const { commands = [] } of situations) for (const line of commands) await kubectl.ok(line)
  await untilNamed(
    situations.filter((one) => !lost.includes(one)),
    40_000,
  )
  const kubeconfig = ['--kubeconfig', cluster.server.kubeconfig]
  await runCoxswain([
    'wait',
    'node/far',
    'node/n-3',
    '--for',
    'condition=Ready=Unknown',
    '--timeout',
    '80s',
    ...kubeconfig,
  ])
  await untilNamed(lost, 20_000)
}, 180_000)

it.each(situations.map((one) => [one.name, one] as const))('coxswain why names the true cause: %s', (_, situation) => {
  const { causes, state, message } = said.get(situation)!
  const [first] = causes
  expect({ cause: first?.cause, of: first?.object.kind, text: first?.text, state, message }).toEqual({
    cause: situation.cause,
    of: situation.of ?? 'Pod',
    text: expect.stringMatching(situation.says),
    state: expect.any(String),
    message: expect.any(String),
  })
  expect(first!.help).toMatch(/[.?]$/)
})

it('there are at least 25 situations', () => expect(situations.length).toBeGreaterThanOrEqual(25))

it.each(['gate', 'image', 'paused'])('the exit code tells trouble from waiting: %s', async (name) => {
  const situation = situations.find((one) => one.name === name)!
  const { code } = await runCoxswain(['why', targetOf(situation), '--kubeconfig', cluster.server.kubeconfig])
  expect(code).toBe(situation.exitCode ?? 3)
})
