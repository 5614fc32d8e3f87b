import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Machine, podOf } from './machine.ts'

const service = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec })
const web = (name: string) => {
  const pod = podOf(name, { containers: [{ name: 'main', image: 'nginx', ports: [{ containerPort: 80, name: 'http' }], readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 } }] })
  return { ...pod, metadata: { ...(pod as { metadata: object }).metadata, labels: { app: 'web' } } }
}

let machine: Machine
beforeAll(async () => {
  machine = await Machine.start()
  await machine.create(
    podOf('client'), web('a'), web('b'),
    service('web', { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 8080, targetPort: 'http' }] }),
    service('nobody', { selector: { app: 'nobody' }, ports: [{ port: 80 }] }),
  )
  await machine.kubectl.ok('wait pod --all --for=condition=Ready --timeout=60s')
}, 120_000)

afterAll(() => machine?.remove())

const inside = (line: string) => machine.kubectl.run('exec -i client -- sh', line)
const ipOf = (name: string) => machine.kubectl.ok(`get service ${name} -o jsonpath={.spec.clusterIP}`)

describe('a service', () => {
  it('leads pods to the pods behind its cluster IP', async () => {
    const ip = await ipOf('web')
    await vi.waitFor(async () => expect((await inside(`wget -q -O - http://${ip}:8080/`)).out).toContain('container web of pod'), { timeout: 40_000, interval: 200 })
  })

  it('without endpoints refuses at once', async () => {
    const began = performance.now()
    const { code, err } = await inside(`wget -q -O - http://${await ipOf('nobody')}/`)
    // Without a default route the kernel rejects before the rules do.
    expect([code, err]).toEqual([1, expect.stringMatching(/refused|unreachable/)])
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  it('has names that pods resolve, with their search path', async () => {
    const answer = async (name: string) => (await inside(`wget -q -O - http://${name}:8080/`)).out
    for (const name of ['web', 'web.default', 'web.default.svc.cluster.local']) {
      await vi.waitFor(async () => expect(await answer(name)).toContain('container web of pod'), { timeout: 40_000, interval: 200 })
    }
  })

  it('leads pods to the API server, which listens on the loopback interface', async () => {
    const { code, out, err } = await inside('nc -w 3 "$KUBERNETES_SERVICE_HOST" "$KUBERNETES_SERVICE_PORT" </dev/null && echo open')
    expect({ code, out, err }).toEqual({ code: 0, out: 'open\n', err: '' })
  })
})
