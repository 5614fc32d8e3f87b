import { describe, expect, it, vi } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'

const flags = ['--runtime', 'process', '--dashboard', 'false']
const waiting = '-o jsonpath={.status.containerStatuses[0].state.waiting.reason}'

describe('an image that the catalogue does not know', () => {
  const cluster = useEverything(flags)

  it('is told of in an event, and a placeholder stands for it', async () => {
    await cluster.kubectl.ok('run web --image=registry.example/shop/web:3')
    await cluster.kubectl.ok('wait pod/web --for=condition=Ready --timeout=60s')
    await vi.waitFor(async () => {
      const events = await cluster.kubectl.ok('get events --field-selector involvedObject.name=web,reason=UnknownImage -o jsonpath={.items[*].message}')
      expect(events).toContain('Image "registry.example/shop/web:3" is not in the image catalogue')
    }, { timeout: 40_000, interval: 200 })
  })

  it('is not Ready where its port cannot be opened', async () => {
    const port = new URL(cluster.server.url).port
    // The API server has this port at 127.0.0.1, which is the address of a pod on the host's network.
    const spec = { hostNetwork: true, containers: [{ name: 'taken', image: 'unknown', ports: [{ containerPort: Number(port), hostPort: Number(port) }] }] }
    await cluster.kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'taken' }, spec }))
    await vi.waitFor(async () => {
      const [code, message] = (await cluster.kubectl.ok("get pod taken -o 'jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}/{.status.containerStatuses[0].lastState.terminated.message}'")).split('/')
      expect([code, message]).toEqual(['1', expect.stringContaining('EADDRINUSE')])
    }, { timeout: 40_000, interval: 200 })
    expect(await cluster.kubectl.ok("get pod taken -o 'jsonpath={.status.conditions[?(@.type==\"Ready\")].status}'")).toBe('False')
  })
})

describe('with --unknown-images=fail', () => {
  const cluster = useEverything([...flags, '--unknown-images', 'fail'])

  it('cannot be pulled, in the words for a missing one', async () => {
    await cluster.kubectl.ok('run web --image=registry.example/shop/web:3')
    await vi.waitFor(async () => expect(await cluster.kubectl.ok(`get pod web ${waiting}`)).toMatch(/^(ErrImagePull|ImagePullBackOff)$/), { timeout: 40_000, interval: 100 })
    expect(await cluster.kubectl.ok('get events --field-selector involvedObject.name=web,reason=Failed -o jsonpath={.items[*].message}'))
      .toContain('failed to resolve reference "registry.example/shop/web:3": registry.example/shop/web:3: not found')
  })
})
