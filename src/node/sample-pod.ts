import type { Pod } from '../api/generated/types.ts'
import type { Draft } from '../client/index.ts'
import { containerHashAnnotation } from './runtime/labels.ts'
import type { PodState } from './runtime/pod-view.ts'
import type { ContainerStatus, SandboxStatus } from './runtime/runtime.ts'
import { hashOf } from './pods/containers.ts'

/** A pod as tests write it: one container, `app`, unless the spec says otherwise. */
export const samplePod = (spec: Partial<Draft<Pod['spec']>> = {}, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name: 'web', namespace: 'default', uid: 'u1', ...metadata },
  spec: { containers: [{ name: 'app', image: 'app:1', resources: {} }], ...spec } as Pod['spec'],
  status: {},
})

export const sampleSandbox = (more: Partial<SandboxStatus> = {}): SandboxStatus => ({
  id: 's0',
  metadata: { name: 'web', namespace: 'default', uid: 'u1', attempt: 0 },
  state: 'ready',
  createdAtMs: 0,
  ips: ['10.0.0.2'],
  runtimeHandler: '',
  labels: {},
  annotations: {},
  ...more,
})

export const sampleContainer = (name: string, more: Partial<ContainerStatus> = {}, attempt = 0): ContainerStatus => ({
  id: `${name}-${attempt}`,
  sandboxId: 's0',
  metadata: { name, attempt },
  state: 'running',
  createdAtMs: attempt,
  startedAtMs: 1,
  finishedAtMs: 0,
  exitCode: 0,
  reason: '',
  message: '',
  image: `${name}:1`,
  imageRef: '',
  labels: {},
  annotations: { [containerHashAnnotation]: hashOf({ name, image: `${name}:1`, resources: {} }) },
  logPath: '',
  ...more,
})

export const sampleState = (
  containers: readonly ContainerStatus[] = [],
  sandboxes: readonly SandboxStatus[] = [sampleSandbox()],
): PodState => ({ sandboxes, containers })
