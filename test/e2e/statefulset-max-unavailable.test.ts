import { describe, expect, it, onTestFinished } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'

const cluster = useEverything(['--runtime', 'simulated', '--nodes', '3'])
const ok = (line: string, input = '') => cluster.kubectl.ok(line, input)
const timeout = '--timeout=60s'

type Policy = 'OrderedReady' | 'Parallel'
const policies: Policy[] = ['OrderedReady', 'Parallel']
const replicas = 5

/** Five pods, of which two may be unavailable. Containers take a moment to start and to end, so that it can be seen. */
function manifest(name: string, podManagementPolicy: Policy, minReadySeconds = 0): string {
  const labels = { app: name }
  const annotations = { 'coxswain.dev/simulate-delay-container': '200ms', 'coxswain.dev/simulate-stop-after': '100ms' }
  const template = { metadata: { labels, annotations }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }
  const updateStrategy = { rollingUpdate: { maxUnavailable: 2 } }
  const selector = { matchLabels: labels }
  const spec = { replicas, serviceName: name, podManagementPolicy, minReadySeconds, selector, template, updateStrategy }
  return JSON.stringify({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name }, spec })
}

interface Seen {
  isReady: boolean
  isGoing: boolean
  image: string
}

/** The output of kubectl while it watches the pods of a set. */
class Watched {
  readonly #pods = new Map<string, Seen>()
  /** The maximum number of pods that were missing, terminating or not ready at the same time. */
  mostDown = 0
  /** The pods of the first image, in the order in which they went. */
  readonly went: string[] = []
  #isRunning = true

  static async of(name: string): Promise<Watched> {
    const ready = 'status.conditions[?(@.type=="Ready")].status'
    const paths = ['metadata.name', ready, 'metadata.deletionTimestamp', 'spec.containers[0].image']
    const columns = ['T:.type', ...paths.map((path, i) => `C${i}:.object.${path}`)].join()
    const shown = `--output-watch-events --no-headers -o 'custom-columns=${columns}'`
    const watch = cluster.kubectl.start(`get pods -l app=${name} -w ${shown}`)
    const watched = new Watched()
    onTestFinished(async () => {
      watched.#isRunning = false
      await watch.stop()
    })
    for (let i = 0; i < replicas; i++) watched.#take(await watch.nextLine())
    void watched.#follow(() => watch.nextLine())
    return watched
  }

  async #follow(nextLine: () => Promise<string>): Promise<void> {
    // It ends with the test, by an error.
    while (this.#isRunning) this.#take(await nextLine().catch(() => ''))
  }

  #take(line: string): void {
    const [type, name, ready, deleted, image = ''] = line.trim().split(/\s+/)
    if (!name) return
    const before = this.#pods.get(name)
    const isGoing = deleted !== '<none>'
    if (type === 'DELETED') this.#pods.delete(name)
    else this.#pods.set(name, { isReady: ready === 'True', isGoing, image })
    const down = replicas - [...this.#pods.values()].filter((pod) => pod.isReady && !pod.isGoing).length
    // The first list comes pod by pod.
    if (this.#pods.size === replicas || this.mostDown > 0 || before) this.mostDown = Math.max(this.mostDown, down)
    if (isGoing && before && !before.isGoing && before.image === 'app:1') this.went.push(name)
  }

  pod(name: string): Seen | undefined {
    return this.#pods.get(name)
  }
}

async function running(name: string, policy: Policy, minReadySeconds = 0): Promise<void> {
  await ok('create -f -', manifest(name, policy, minReadySeconds))
  onTestFinished(() => void cluster.kubectl.run(`delete sts ${name} --wait=false`))
  await ok(`wait --for=jsonpath={.status.readyReplicas}=${replicas} sts/${name} ${timeout}`)
}

describe.each(policies)('a StatefulSet of five with maxUnavailable 2: %s', (policy) => {
  const name = policy.toLowerCase()

  it('rolls out two at a time and never more', async () => {
    await running(`${name}-all`, policy)
    const watched = await Watched.of(`${name}-all`)
    await ok(`set image sts/${name}-all main=app:2`)
    expect(await ok(`rollout status sts/${name}-all ${timeout}`)).toMatch(/complete/)
    expect(watched.mostDown).toBe(2)
    expect(watched.went.toSorted()).toEqual([0, 1, 2, 3, 4].map((ordinal) => `${name}-all-${ordinal}`))
    expect(watched.went.slice(0, 2).toSorted()).toEqual([3, 4].map((ordinal) => `${name}-all-${ordinal}`))
  })

  it(policy === 'Parallel' ? 'does not wait for the order' : 'waits for the order', async () => {
    await running(`${name}-held`, policy)
    const watched = await Watched.of(`${name}-held`)
    const pod = (ordinal: number) => `${name}-held-${ordinal}`
    const open = (ordinal: number) => {
      const status = { conditions: [{ type: 'example.com/open', status: 'True' }] }
      return ok(`patch pod ${pod(ordinal)} --subresource=status -p '${JSON.stringify({ status })}'`)
    }
    // New pods are ready when the test says so.
    const containers = [{ name: 'main', image: 'app:2' }]
    const spec = { readinessGates: [{ conditionType: 'example.com/open' }], containers }
    await ok(`patch sts ${name}-held -p '${JSON.stringify({ spec: { template: { spec } } })}'`)
    const isBack = (ordinal: number) =>
      expect.poll(() => watched.pod(pod(ordinal))?.image, { timeout: 40_000 }).toBe('app:2')
    await isBack(3)
    if (policy === 'Parallel') {
      await isBack(4)
      await open(3)
      // One of the two is ready, so that the next may go: number 4 is not waited for.
      await expect.poll(() => watched.went, { timeout: 40_000 }).toContain(pod(2))
      expect(watched.pod(pod(4))).toMatchObject({ isReady: false, image: 'app:2' })
    } else {
      await open(3)
      // Number 4 is made now that 3 is ready, and until it is ready, too, nothing else goes.
      await isBack(4)
      expect(watched.went.toSorted()).toEqual([pod(3), pod(4)])
      await open(4)
      await expect.poll(() => watched.went.toSorted(), { timeout: 40_000 }).toEqual([1, 2, 3, 4].map(pod))
    }
    expect(watched.mostDown).toBe(2)
  })
})

it('a StatefulSet in parallel leaves pods that have just become ready within the budget', async () => {
  // They are ready, and will be available after two seconds: the update comes before that.
  await running('young', 'Parallel', 2)
  const watched = await Watched.of('young')
  await ok('set image sts/young main=app:2')
  await ok(`wait --for=jsonpath={.status.updatedReplicas}=2 sts/young ${timeout}`)
  expect(watched.mostDown).toBe(2)
  expect(watched.went.toSorted()).toEqual(['young-3', 'young-4'])
})
