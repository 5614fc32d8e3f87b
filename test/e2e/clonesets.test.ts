import { afterAll, describe, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'

/** A set whose pods have two containers, one of which is updated. */
const cloneSet = (name: string, replicas: number, more = '') => `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: { name: ${name} }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - { name: main, image: 'busybox:1.36', command: [sh, -c, 'exec sleep 600'] }
        - { name: side, image: 'busybox:1.36', command: [sh, -c, 'exec sleep 600'] }
  updateStrategy: { type: InPlaceIfPossible, maxUnavailable: 2 }
${more}`

/** Kubernetes' own way to change an image knows Kubernetes' own kinds only. */
const imagePatch = (image: string) =>
  `--type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"${image}"}]'`

const everyRuntime = [
  { runtime: 'process', flags: [] },
  { runtime: 'simulated', flags: ['--runtime', 'simulated', '--nodes', '3'] },
]

describe.each(everyRuntime)('CloneSets on the $runtime runtime', ({ flags }) => {
  const cluster = useEverything(flags)
  const ok = (line: string) => cluster.kubectl.ok(line)
  // Processes are not left behind.
  afterAll(() => cluster.kubectl?.run('delete clonesets --all --cascade=foreground --timeout=60s'))

  const apply = async (name: string, replicas: number, more?: string) => {
    cluster.kubectl.file(`${name}.yaml`, cloneSet(name, replicas, more))
    await ok(`apply -f ${name}.yaml`)
    await ok(`wait --for=condition=Available clone/${name} --timeout=60s`)
    await ok(`wait --for=jsonpath={.status.availableReplicas}=${replicas} clone/${name} --timeout=60s`)
  }
  const patch = (name: string, spec: object) => ok(`patch clonesets.v1alpha1.apps.kruise.io ${name} --type=merge -p '${JSON.stringify({ spec })}'`)
  const columns = async (name: string, ...paths: string[]) => {
    const out = await ok(`get pods -l app=${name} --sort-by=.metadata.name --no-headers -o custom-columns=${paths.map((at, i) => `C${i}:${at}`).join(',')}`)
    return out.trim().split('\n').map((line) => line.trim().split(/\s+/).join(' '))
  }
  /** The fields that an in-place update does not change. */
  const identities = (name: string) => columns(name, '.metadata.uid', '.metadata.name', '.spec.nodeName', '.status.podIP', '.status.containerStatuses[1].containerID')
  const images = (name: string) => columns(name, '.spec.containers[0].image')
  const restarts = (name: string) => columns(name, '.status.containerStatuses[0].restartCount', '.status.containerStatuses[1].restartCount')

  it('a canary by hand, in place: 80%, 50%, all', async () => {
    await apply('canary', 5)
    const before = await identities('canary')
    await patch('canary', { updateStrategy: { partition: '80%' } })
    await ok(`patch clone canary ${imagePatch('busybox:1.37')}`)
    for (const [partition, updated] of [['80%', 1], ['50%', 2], [0, 5]] as const) {
      await patch('canary', { updateStrategy: { partition } })
      await ok(`wait --for=jsonpath={.status.expectedUpdatedReplicas}=${updated} clone/canary --timeout=60s`)
      await ok(`wait --for=jsonpath={.status.updatedAvailableReplicas}=${updated} clone/canary --timeout=60s`)
      await ok('wait --for=jsonpath={.status.availableReplicas}=5 clone/canary --timeout=60s')
      await ok('wait --for=condition=Progressing clone/canary --timeout=60s')
      expect((await images('canary')).filter((image) => image === 'busybox:1.37')).toHaveLength(updated)
      expect((await restarts('canary')).toSorted()).toEqual([...Array<string>(5 - updated).fill('0 0'), ...Array<string>(updated).fill('1 0')])
    }
    expect(await identities('canary')).toEqual(before)
    expect(await ok(`get clone canary -o 'jsonpath={.status.conditions[?(@.type=="Progressing")].reason}'`)).toBe('NewRevisionAvailable')
    expect(await columns('canary', '.status.containerStatuses[0].image')).toEqual(Array<string>(5).fill('busybox:1.37'))
  })

  it('a pod is out of service while it is updated, and has its grace period', async () => {
    await apply('graceful', 1)
    await patch('graceful', { updateStrategy: { inPlaceUpdateStrategy: { gracePeriodSeconds: 2 } } })
    const [pod] = await columns('graceful', '.metadata.name')
    await ok(`patch clone graceful ${imagePatch('busybox:1.37')}`)
    await ok(`wait --for=condition=InPlaceUpdateReady=false pod/${pod} --timeout=60s`)
    expect(await images('graceful')).toEqual(['busybox:1.36'])
    await ok(`wait --for=condition=Ready=false pod/${pod} --timeout=60s`)
    await ok(`wait --for=condition=InPlaceUpdateReady pod/${pod} --timeout=60s`)
    await ok(`wait --for=condition=Ready pod/${pod} --timeout=60s`)
    expect(await restarts('graceful')).toEqual(['1 0'])
  })

  it('scaled down, it gives up the pods that were named', async () => {
    await apply('named', 3)
    const names = await columns('named', '.metadata.name')
    const [, chosen] = names
    await patch('named', { replicas: 2, scaleStrategy: { podsToDelete: [chosen] } })
    await ok(`wait --for=delete pod/${chosen} --timeout=60s`)
    expect(await columns('named', '.metadata.name')).toEqual(names.filter((name) => name !== chosen))
    await ok('wait --for=jsonpath={.status.replicas}=2 clone/named --timeout=60s')
    await ok('scale clone named --replicas=4')
    await ok('wait --for=jsonpath={.status.availableReplicas}=4 clone/named --timeout=60s')
    expect(await columns('named', '.metadata.name')).toEqual(expect.arrayContaining(names.filter((name) => name !== chosen)))
  })

  it('a deletion waits for its hook', async () => {
    await apply('drained', 2, '  lifecycle: { preDelete: { finalizersHandler: [example.com/drain] } }\n')
    const state = '.metadata.labels.lifecycle\\.apps\\.kruise\\.io/state'
    for (const name of await columns('drained', '.metadata.name')) await ok(`patch pod ${name} --type=merge -p '{"metadata":{"finalizers":["example.com/drain"]}}'`)
    await ok('scale clone drained --replicas=1')
    await ok(`wait --for=jsonpath={.status.availableReplicas}=1 clone/drained --timeout=60s`)
    const going = (await columns('drained', '.metadata.name', state, '.metadata.deletionTimestamp')).filter((line) => line.includes('PreparingDelete'))
    expect(going).toEqual([expect.stringMatching(/^drained-\S+ PreparingDelete <none>$/)])
    const name = going[0]!.split(' ')[0]!
    await ok(`patch pod ${name} --type=merge -p '{"metadata":{"finalizers":null}}'`)
    await ok(`wait --for=delete pod/${name} --timeout=60s`)
    expect(await columns('drained', state)).toEqual(['Normal'])
    for (const left of await columns('drained', '.metadata.name')) await ok(`patch pod ${left} --type=merge -p '{"metadata":{"finalizers":null}}'`)
  })
})
