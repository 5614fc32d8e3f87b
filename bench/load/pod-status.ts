const condition = (type: string, isTrue: boolean) => ({
  type, status: isTrue ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:01Z',
})

const container = (index: number, name: string, ready: boolean) => ({
  name, ready, started: ready, restartCount: 0, image: `registry.example.com/team/${name}:1.25.3`, imageID: `sha256:${name}`,
  containerID: `sim://${index}-${name}`, state: { running: { startedAt: '2026-01-01T00:00:01Z' } },
})

/** The status that a node tells of a pod of `podText`: its containers run, and are ready or not. */
export function podStatus(index: number, ready: boolean): object {
  const ip = `10.0.${(index >> 8) & 255}.${index & 255}`
  return {
    phase: 'Running',
    conditions: [
      condition('Initialized', true), condition('Ready', ready), condition('ContainersReady', ready), condition('PodScheduled', true),
    ],
    hostIP: '10.1.0.1', podIP: ip, podIPs: [{ ip }], startTime: '2026-01-01T00:00:00Z',
    containerStatuses: [container(index, 'web', ready), container(index, 'sidecar', ready)],
  }
}
