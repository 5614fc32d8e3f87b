import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

it('coxswain up runs the controllers, and goes on after a kill where it was', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-up-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const first = await startEverything(dataDir)
  const kubectl = new Kubectl(first.kubeconfig)
  await kubectl.ok('create deployment web --image=nginx --replicas=3')
  await kubectl.ok('wait deployment/web --for=jsonpath={.status.replicas}=3 --timeout=30s')
  expect((await kubectl.ok('get serviceaccounts,configmaps -o name')).trim().split('\n')).toEqual(['serviceaccount/default', 'configmap/kube-root-ca.crt'])
  await kubectl.ok('scale deployment web --replicas=5')
  await first.stop('SIGKILL')

  const second = await startEverything(dataDir)
  onTestFinished(async () => void (await second.stop()))
  const again = new Kubectl(second.kubeconfig)
  await again.ok('wait deployment/web --for=jsonpath={.status.replicas}=5 --timeout=30s')
  expect((await again.ok('get pods -o name')).trim().split('\n')).toHaveLength(5)
  await again.ok('delete deployment web --cascade=foreground --timeout=30s')
  expect(await again.ok('get replicasets,pods -o name')).toBe('')
})
