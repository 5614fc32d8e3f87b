import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import type { PodState } from '../runtime/pod-view.ts'
import { sampleContainer as container, samplePod, sampleSandbox, sampleState as state } from '../sample-pod.ts'
import { type Verdicts, planPod } from './plan.ts'

const healthy: Verdicts = { isStarted: () => true, failedProbe: () => undefined }

/** A plan in short: `sandbox 1`, `finished`, `start a b`, `stop a`, `-`. */
function shown(pod: Pod, seen: PodState, verdicts = healthy): string {
  const plan = planPod(pod, seen, verdicts)
  if (plan.kind === 'create sandbox') return `sandbox ${plan.attempt}`
  if (plan.kind === 'finished') return 'finished'
  const parts = [...plan.stop.map((s) => `stop ${s.container.spec.name}`), ...(plan.start.length > 0 ? [`start ${plan.start.map((c) => c.spec.name).join(' ')}`] : [])]
  return parts.join(', ') || '-'
}

const exited = (name: string, exitCode: number, more = {}) => container(name, { state: 'exited', exitCode, ...more })
const dead = sampleSandbox({ state: 'notReady' })
const spec = (name: string, more = {}) => ({ name, image: `${name}:1`, resources: {}, ...more })
const initPod = samplePod({ initContainers: [spec('a'), spec('b')] })
const sidecarPod = samplePod({ initContainers: [spec('side', { restartPolicy: 'Always' }), spec('b')] })

describe('planPod()', () => {
  it.each<[string, Pod, PodState, string]>([
    ['makes a sandbox first', samplePod(), state([], []), 'sandbox 0'],
    ['makes another one when the last has ended', samplePod(), state([exited('app', 137)], [dead]), 'sandbox 1'],
    ['makes another one where the last has no address', samplePod(), state([], [sampleSandbox({ ips: [] })]), 'sandbox 1'],
    ['needs no address on the network of the host', samplePod({ hostNetwork: true }), state([], [sampleSandbox({ ips: [] })]), 'start app'],
    ['makes none for a pod that is not to run twice', samplePod({ restartPolicy: 'Never' }), state([exited('app', 137)], [dead]), 'finished'],
    ['makes none when all have succeeded', samplePod({ restartPolicy: 'OnFailure' }), state([exited('app', 0)], [dead]), 'finished'],
    ['starts all containers at once', samplePod({ containers: [spec('app'), spec('b')] }), state(), 'start app b'],
    ['leaves alone what runs', samplePod(), state([container('app')]), '-'],
    ['starts again what has ended, if it is always restarted', samplePod(), state([exited('app', 0)]), 'start app'],
    ['starts again what has failed, if that is the policy', samplePod({ restartPolicy: 'OnFailure' }), state([exited('app', 1)]), 'start app'],
    ['is finished when all have ended well', samplePod({ restartPolicy: 'OnFailure' }), state([exited('app', 0)]), 'finished'],
    ['goes on while one runs', samplePod({ restartPolicy: 'Never', containers: [spec('app'), spec('b')] }), state([exited('app', 1), container('b')]), '-'],
    ['stops what has another image now', samplePod({ containers: [spec('app', { image: 'app:2' })] }), state([container('app')]), 'stop app'],
    ['starts the first init container', initPod, state(), 'start a'],
    ['waits for it', initPod, state([container('a')]), '-'],
    ['starts the next when it has succeeded', initPod, state([exited('a', 0)]), 'start b'],
    ['starts it again when it has failed', initPod, state([exited('a', 1)]), 'start a'],
    ['is finished when it has failed and nothing is restarted', { ...initPod, spec: { ...initPod.spec, restartPolicy: 'Never' } }, state([exited('a', 1)]), 'finished'],
    ['starts the containers when all init containers have succeeded', initPod, state([exited('b', 0), exited('a', 0)]), 'start app'],
    ['runs init containers again in a new sandbox', initPod, state([exited('app', 137), exited('b', 0), exited('a', 0)], [sampleSandbox({ id: 's1' }), dead]), 'start a'],
    ['does not go back to init containers that the runtime has forgotten', initPod, state([container('app')]), '-'],
    ['starts a sidecar and goes on to the next when it has started', sidecarPod, state([container('side')]), 'start b'],
    ['starts a sidecar again that has ended', sidecarPod, state([container('app'), exited('b', 0), exited('side', 0)]), 'start side'],
    ['does not wait for sidecars to be finished', { ...sidecarPod, spec: { ...sidecarPod.spec, restartPolicy: 'Never' } }, state([exited('app', 0), exited('b', 0), container('side')]), 'finished'],
    ['starts ephemeral containers once', samplePod({ ephemeralContainers: [spec('debug')] }), state([container('app')]), 'start debug'],
    ['does not start them twice', samplePod({ ephemeralContainers: [spec('debug')] }), state([exited('debug', 1), container('app')]), '-'],
  ])('%s', (_, pod, seen, expected) => {
    expect(shown(pod, seen)).toBe(expected)
  })

  it('waits for a sidecar whose startup probe has not succeeded', () => {
    expect(shown(sidecarPod, state([container('side')]), { ...healthy, isStarted: () => false })).toBe('-')
  })

  it('stops what fails its liveness probe, and says why', () => {
    const plan = planPod(samplePod(), state([container('app')]), { ...healthy, failedProbe: () => 'liveness' })
    expect(plan).toMatchObject({ kind: 'containers', stop: [{ message: 'Container app failed liveness probe, will be restarted' }] })
  })
})
