import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { EtcdCluster } from '../etcd/etcd-cluster.ts'
import { runCoxswain, startServer } from '../kubectl/coxswain.ts'
import { TlsClient } from './tls-client.ts'

it('a cluster moves from LMDB to etcd by backup and restore, with its keys', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'backup-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const etcd = await EtcdCluster.start()
  onTestFinished(() => etcd.stop())
  const [from, to, file] = ['from', 'to', 'backup'].map((name) => path.join(dir, name)) as [string, string, string]
  const maps = '/api/v1/namespaces/default/configmaps'

  const first = await startServer(from, ['--store', 'lmdb'])
  const before = new TlsClient(first.kubeconfig)
  const body = JSON.stringify({ metadata: { name: 'kept' }, data: { key: 'value' } })
  expect((await before.http1({ method: 'POST', path: maps, headers: { 'content-type': 'application/json' }, body })).code).toBe(201)
  before.close()
  await first.stop()

  expect(await runCoxswain(['backup', file, '--data-dir', from])).toMatchObject({ code: 0, out: expect.stringMatching(/^wrote \d+ objects as of revision \d+/) })
  const engine = ['--store', 'etcd', '--etcd-servers', etcd.urls.join(','), '--data-dir', to]
  expect(await runCoxswain(['restore', file, ...engine])).toMatchObject({ code: 0, out: expect.stringMatching(/^restored \d+ objects/) })
  expect(await runCoxswain(['restore', file, ...engine])).toMatchObject({ code: 1, err: expect.stringContaining('the store is not empty') })

  const second = await startServer(to, engine.slice(0, 4))
  onTestFinished(async () => void (await second.stop('SIGKILL')))
  const after = new TlsClient(second.kubeconfig)
  expect(JSON.parse((await after.http1({ path: `${maps}/kept` })).text)).toMatchObject({ data: { key: 'value' } })
  expect(after.ca).toBe(before.ca)
  after.close()
})
