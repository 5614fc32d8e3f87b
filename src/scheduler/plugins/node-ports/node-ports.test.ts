import { describe, expect, it } from 'vitest'
import type { ContainerPort } from '../../../api/generated/types.ts'
import { PodInfo } from '../../cluster/pod-info.ts'
import { rejections, sampleNode, samplePod, sampleWorld } from '../sample-world.ts'
import { nodePorts } from './node-ports.ts'

const wanting = (name: string, port: Partial<ContainerPort>, node?: string) =>
  samplePod(name, { ...(node ? { node } : {}), spec: { containers: [{ name: 'main', resources: {}, ports: [{ containerPort: 80, ...port }] }] } })

const refused = { node: "node(s) didn't have free ports for the requested pod ports" }

describe('NodePorts', () => {
  it.each<[string, Partial<ContainerPort>, Partial<ContainerPort>, object]>([
    ['no port of the node', {}, { hostPort: 8080 }, {}],
    ['the same port', { hostPort: 8080 }, { hostPort: 8080 }, refused],
    ['another port', { hostPort: 8081 }, { hostPort: 8080 }, {}],
    ['the same port of another protocol', { hostPort: 8080, protocol: 'UDP' }, { hostPort: 8080 }, {}],
    ['the same port of another address', { hostPort: 8080, hostIP: '127.0.0.1' }, { hostPort: 8080, hostIP: '192.0.2.1' }, {}],
    ['the same port of any address', { hostPort: 8080, hostIP: '127.0.0.1' }, { hostPort: 8080 }, refused],
  ])('judges a pod that wants %s', (_, wanted, taken, expected) => {
    const world = sampleWorld({ nodes: [sampleNode('node')], pods: [wanting('other', taken, 'node')] })
    expect(rejections(nodePorts, wanting('web', wanted), world)).toEqual(expected)
  })

  it('hears of a port that becomes free', () => {
    const pod = new PodInfo(wanting('web', { hostPort: 8080 }))
    const gone = (port: number) => ({ kind: 'AssignedPodDelete', pod: new PodInfo(wanting('other', { hostPort: port }, 'node')) }) as const
    expect(nodePorts.helps(gone(8080), pod, sampleWorld())).toBe(true)
    expect(nodePorts.helps(gone(8081), pod, sampleWorld())).toBe(false)
  })
})
