import { expect, it } from 'vitest'
import { configmaps, secrets } from '../../../src/client/index.ts'
import { bootstrapSigner } from '../../../src/controllers/bootstrap-tokens/signer.ts'
import { tokenCleaner } from '../../../src/controllers/bootstrap-tokens/cleaner.ts'
import { detachedSignature } from '../../../src/controllers/bootstrap-tokens/signer.ts'
import { Scene } from '../kit/scene.ts'

const start = () => Scene.start({ controllers: [tokenCleaner, bootstrapSigner] })

async function makeToken(s: Scene, id: string, lastsMs?: number, namespace = 'kube-system'): Promise<void> {
  const said = {
    'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true',
    ...(lastsMs === undefined ? {} : { expiration: new Date(s.clock.now() + lastsMs).toISOString() }),
  }
  const data = Object.fromEntries(Object.entries(said).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
  await s.client.create(secrets, { metadata: { name: `bootstrap-token-${id}`, namespace }, type: 'bootstrap.kubernetes.io/token', data })
}

const namesIn = async (s: Scene, namespace: string) => (await s.client.list(secrets, namespace)).items.map(({ metadata }) => metadata.name)
const clusterInfo = async (s: Scene) => (await s.client.get(configmaps, 'kube-public', 'cluster-info')).data
const signatureBy = (id: string, content: string) => ({ [`jws-kubeconfig-${id}`]: detachedSignature(content, id, '0123456789abcdef') })

it('tokens go when they expire, and only tokens of kube-system', async () => {
  const s = await start()
  await makeToken(s, 'aaaaaa', 60_000)
  await makeToken(s, 'bbbbbb')
  await makeToken(s, 'cccccc', -1000, 'default')
  await s.client.create(secrets, { metadata: { name: 'other', namespace: 'kube-system' }, data: { expiration: 'MjAyMA==' } })
  await s.pass(59_000)
  expect(await namesIn(s, 'kube-system')).toEqual(['bootstrap-token-aaaaaa', 'bootstrap-token-bbbbbb', 'other'])
  await s.pass(2000)
  expect(await namesIn(s, 'kube-system')).toEqual(['bootstrap-token-bbbbbb', 'other'])
  expect(await namesIn(s, 'default')).toEqual(['bootstrap-token-cccccc'])
  expect(s.warnings).toEqual([])
})

it('cluster-info is signed by every token, as they come, go and change, and is never made', async () => {
  const s = await start()
  await makeToken(s, 'aaaaaa', 60_000)
  await s.pass(1000)
  expect((await s.client.list(configmaps, 'kube-public')).items).toEqual([])
  await s.client.create(configmaps, { metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { kubeconfig: 'one' } })
  await s.pass(1000)
  expect(await clusterInfo(s)).toEqual({ kubeconfig: 'one', ...signatureBy('aaaaaa', 'one') })
  await makeToken(s, 'bbbbbb')
  await s.pass(1000)
  expect(await clusterInfo(s)).toEqual({ kubeconfig: 'one', ...signatureBy('aaaaaa', 'one'), ...signatureBy('bbbbbb', 'one') })
  await s.client.patch(configmaps, 'kube-public', 'cluster-info', { data: { kubeconfig: 'two' } }, { type: 'merge' })
  await s.pass(60_000)
  expect(await clusterInfo(s)).toEqual({ kubeconfig: 'two', ...signatureBy('bbbbbb', 'two') })
  const before = s.wire.writes.length
  await s.pass(600_000)
  expect(s.wire.writes).toHaveLength(before)
  expect(s.warnings).toEqual([])
})
