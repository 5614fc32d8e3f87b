import { describe, expect, it } from 'vitest'
import { useCluster, useControllers } from '../kubectl/cluster.ts'
import { usePodRunner } from '../kubectl/pod-runner.ts'

const cluster = useCluster()
useControllers(cluster, ['--leader-elect=false', '--controllers', 'statefulset-controller,garbage-collector-controller'])
usePodRunner(cluster)

const ok = (line: string, input = '') => cluster.kubectl.ok(line, input)
const read = (name: string, path: string) => ok(`get sts/${name} -o jsonpath='${path}'`)
const condition = (name: string, type: string, field: string) => read(name, `{.status.conditions[?(@.type=="${type}")].${field}}`)

function manifest(name: string, spec: object = {}, image = 'app:1', annotations: object = {}): string {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image }] } }
  const metadata = { name, annotations: { 'kubernetes.io/change-cause': `take ${image}`, ...annotations } }
  return JSON.stringify({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: { replicas: 3, serviceName: name, selector: { matchLabels: labels }, template, ...spec } })
}

const timeout = '--timeout=60s'

describe('kubectl and a StatefulSet', () => {
  it('waits for it, and shows it', async () => {
    await ok('create -f -', manifest('web'))
    expect(await ok(`rollout status sts/web ${timeout}`)).toMatch(/(partitioned roll out|statefulset rolling update) complete/)
    expect(await ok(`wait --for=condition=Available sts/web ${timeout}`)).toBe('statefulset.apps/web condition met\n')
    expect(await ok(`wait --for=condition=Progressing sts/web ${timeout}`)).toBe('statefulset.apps/web condition met\n')
    expect(await condition('web', 'Progressing', 'reason')).toBe('NewRevisionAvailable')
    expect(await ok('get sts web')).toMatch(/^NAME {3}READY {3}AGE\nweb {4}3\/3 {5}\d+s\n$/)
    expect(await ok('get sts web -o wide')).toMatch(/^NAME {3}READY {3}AGE {3}CONTAINERS {3}IMAGES\nweb {4}3\/3 {5}\d+s {4}main {9}app:1\n$/)
    expect(await ok('get pods -l app=web --no-headers -o custom-columns=N:.metadata.name')).toBe('web-0\nweb-1\nweb-2\n')
  })

  it('sets an image, lists the history and goes back', async () => {
    await ok('annotate sts/web kubernetes.io/change-cause=the-second --overwrite')
    await ok('set image sts/web main=app:2')
    await ok(`rollout status sts/web ${timeout}`)
    expect(await ok('rollout history sts/web')).toBe('statefulset.apps/web \nREVISION  CHANGE-CAUSE\n1         take app:1\n2         the-second\n\n')
    expect(await ok('rollout history sts/web --revision=1')).toContain('Image:\tapp:1')
    expect(await ok('rollout undo sts/web')).toBe('statefulset.apps/web rolled back\n')
    await ok(`rollout status sts/web ${timeout}`)
    expect(await ok('rollout history sts/web')).toBe('statefulset.apps/web \nREVISION  CHANGE-CAUSE\n2         the-second\n3         take app:1\n\n')
    expect(await ok("get pods -l app=web -o jsonpath='{.items[*].spec.containers[0].image}'")).toBe('app:1 app:1 app:1')
  })

  it('restarts it', async () => {
    const uids = () => ok("get pods -l app=web -o jsonpath='{.items[*].metadata.uid}'")
    const before = await uids()
    await ok('rollout restart sts/web')
    await ok(`rollout status sts/web ${timeout}`)
    const after = await uids()
    expect(after.split(' ').filter((uid) => before.includes(uid))).toEqual([])
    expect(await condition('web', 'Progressing', 'reason')).toBe('NewRevisionAvailable')
  })

  it('scales it, and tells what was done', async () => {
    await ok('scale sts web --replicas=1')
    await ok(`wait --for=jsonpath={.status.replicas}=1 sts/web ${timeout}`)
    const text = await ok('describe sts web')
    expect(text).toMatch(/Replicas:\s+1 desired \| 1 total/)
    expect(text).toMatch(/Normal\s+SuccessfulDelete\s+.*statefulset-controller\s+delete Pod web-2 in StatefulSet web successful/)
  })

  it('is warned of a value that is more than there is', async () => {
    const { err } = await cluster.kubectl.run(`patch sts web --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":9}}}}'`)
    expect(err).toBe('Warning: spec.updateStrategy.rollingUpdate.maxUnavailable: 9 is more than spec.replicas (1) and acts as 1\n')
  })

  it('deletes it with all it has made', async () => {
    await ok('delete sts web')
    await expect.poll(() => ok('get pods,controllerrevisions -l app=web -o name'), { timeout: 40_000 }).toBe('')
  })
})

describe('kubectl and a StatefulSet that does not work', () => {
  it('is told why, and that the deadline is exceeded; and goes on when it is mended', async () => {
    await ok('create -f -', manifest('bad', { progressDeadlineSeconds: 1, podManagementPolicy: 'Parallel' }, 'broken:1'))
    await ok(`wait --for=condition=Available=False sts/bad ${timeout}`)
    await ok(`wait --for=condition=Progressing=False sts/bad ${timeout}`)
    expect(await condition('bad', 'Progressing', 'reason')).toBe('ProgressDeadlineExceeded')
    expect(await condition('bad', 'Progressing', 'message')).toMatch(
      /^No progress with revision bad-\w+ for 1 second\. Pod bad-0 cannot pull image "broken:1" for container "main": no such image, since /,
    )
    await ok('set image sts/bad main=app:2')
    await ok(`wait --for=condition=Available sts/bad ${timeout}`)
    await expect.poll(() => condition('bad', 'Progressing', 'reason'), { timeout: 40_000 }).toBe('NewRevisionAvailable')
  })

  it('in order, needs somebody to delete the broken pod, or to have asked for that', async () => {
    await ok('create -f -', manifest('stuck', { replicas: 2 }, 'broken:1'))
    await ok(`wait --for=jsonpath={.status.replicas}=1 sts/stuck ${timeout}`)
    await expect.poll(() => condition('stuck', 'Progressing', 'message'), { timeout: 40_000 }).toContain('Pod stuck-0 cannot pull image')
    await ok('set image sts/stuck main=app:2')
    await ok(`wait --for=condition=Progressing sts/stuck ${timeout}`)
    await expect.poll(() => read('stuck', '{.status.observedGeneration}'), { timeout: 40_000 }).toBe('2')
    expect(await ok("get pod stuck-0 -o jsonpath='{.spec.containers[0].image}{.metadata.deletionTimestamp}'")).toBe('broken:1')
    await ok('annotate sts stuck coxswain.dev/recover-broken-rollout=true')
    expect(await ok(`rollout status sts/stuck ${timeout}`)).toMatch(/complete/)
    await ok(`wait --for=condition=Available sts/stuck ${timeout}`)
  })
})
