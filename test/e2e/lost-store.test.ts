import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FakeEtcd } from '../etcd/fake-etcd.ts'
import { startCoxswain } from '../kubectl/coxswain.ts'

it('a server whose history was compacted while it was cut off from etcd ends with an error, so that it is started again', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'lost-store-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const etcd = new FakeEtcd({ version: '3.5.13' })
  const url = await etcd.listen()
  onTestFinished(() => etcd.close())
  const args = ['apiserver', '--data-dir', dir, '--store', 'etcd', '--etcd-servers', url, '--secure-port', '0', '--log-level', 'error']
  const server = startCoxswain(args)
  onTestFinished(() => void server.child.kill('SIGKILL'))
  await server.said(/^ready /m)
  etcd.hold()
  etcd.put('/registry/configmaps/default/a', '{}')
  etcd.compact(etcd.revision)
  etcd.disconnect()
  const { code, err } = await server.ended
  expect(code).toBe(1)
  expect(err).toContain('the watch of the store has failed')
})
