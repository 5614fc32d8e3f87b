import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { type Transport, daemonsets, deployments, jobs, nodes, pods, statefulsets } from '../../src/client/index.ts'
import { type TestCluster, startCluster } from '../../src/cluster/testing.ts'
import { Kubelet } from '../integration/controllers/kubelet.ts'
import { StockStatusTransport } from '../integration/stock/stock-manager.ts'
import { stockControllers } from '../integration/stock/stock-scene.ts'
import { daemonSet, deployment, job, statefulSet } from '../integration/stock/workloads.ts'
import { type Visit, seriousFindings, startBrowser, visit } from '../kubectl/browser.ts'
import { startDashboard } from '../kubectl/coxswain.ts'

// A stock cluster: none of our kinds and fields, statuses as Kubernetes' own controllers write them, no metrics of ours.

let cluster: TestCluster
let dashboard: Awaited<ReturnType<typeof startDashboard>>
let browser: Browser
let visitor: Visit

/** The pods of a workload, once it has some. */
const podsMadeFor = (app: string) => vi.waitFor(async () => {
  const { items } = await cluster.client.list(pods, 'default', { labelSelector: `app=${app}` })
  expect(items.length).toBeGreaterThan(0)
  return items
}, { timeout: 40_000 })

beforeAll(async () => {
  const wrapTransport = (transport: Transport) => new StockStatusTransport(transport)
  cluster = await startCluster({ stock: true, listen: true, controllers: stockControllers(), wrapTransport })
  const { client } = cluster
  await client.create(nodes, { metadata: { name: 'n1' } } as never)
  await client.patch(nodes, '', 'n1', { spec: { taints: null } }, { type: 'merge' })
  const status = { conditions: [{ type: 'Ready', status: 'True' }] }
  await client.patch(nodes, '', 'n1', { status } as never, { type: 'merge', subresource: 'status' })
  await client.create(statefulsets, statefulSet('db'))
  await client.create(daemonsets, daemonSet('agent'))
  await client.create(deployments, deployment('web'))
  await client.create(jobs, job('task'))
  const kubelet = new Kubelet(client, systemClock)
  for (const app of ['agent', 'web']) {
    await kubelet.report('ready', await podsMadeFor(app))
  }
  await kubelet.report({ waiting: 'ImagePullBackOff', message: 'no such image' }, await podsMadeFor('db'))
  dashboard = await startDashboard(cluster.kubeconfig!, ['--port', '0'])
  browser = await startBrowser()
  visitor = await visit(browser)
}, 60_000)

afterAll(async () => {
  await browser?.close()
  await dashboard?.stop()
  await cluster?.stop()
})

it('coxswain dashboard shows a stock cluster: its workloads, what is in their way, and actions', async () => {
  const { page, complaints } = visitor
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await page.goto(dashboard.link)
  await row('db').getByText('no such image').waitFor()
  for (const name of ['agent', 'web']) await row(name).getByText('Available').waitFor()
  await row('task').waitFor()
  await row('db').click()
  await page.getByRole('region', { name: 'What is in its way' }).getByText('no such image').first().waitFor()
  // A StatefulSet of a stock cluster has no conditions, and its page says so.
  await page.getByText('It has no conditions.').waitFor()
  await page.locator('canvas[data-pods]:not([data-pods="0"])').waitFor()
  await page.getByRole('button', { name: 'Scale', exact: true }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('3')
  await page.getByRole('dialog').getByText('kubectl scale statefulset/db --replicas=3').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Scale' }).click()
  await expect.poll(async () => (await cluster.client.get(statefulsets, 'default', 'db')).spec.replicas).toBe(3)
  await page.getByRole('link', { name: 'Nodes' }).click()
  await page.getByRole('link', { name: 'n1' }).waitFor()
  await page.getByRole('link', { name: 'Objectives' }).click()
  await page.getByText('There are no objectives').waitFor()
  await page.getByRole('link', { name: 'Controllers' }).click()
  await page.getByText('runs no controllers itself').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints).toEqual([])
})

it('a deep link of somebody who is not logged in leads there after the login, and Escape to its list', async () => {
  const { page, context } = await visit(browser)
  const at = `${new URL(dashboard.link).origin}/nodes/n1`
  await page.goto(at)
  await page.getByLabel('Log in with a token').waitFor()
  expect(new URL(page.url()).searchParams.get('next')).toBe('/nodes/n1')
  await page.goto(`${new URL(at).origin}/login?next=${encodeURIComponent('//example.com/')}`)
  await page.getByLabel('Log in with a token').waitFor()
  await context.close()
  await visitor.page.goto(at)
  await visitor.page.getByRole('heading', { name: 'n1', level: 1 }).waitFor()
  await visitor.page.keyboard.press('Escape')
  await expect.poll(() => new URL(visitor.page.url()).pathname).toBe('/nodes')
  await visitor.page.getByRole('link', { name: 'n1' }).waitFor()
  await visitor.page.keyboard.press('j')
  await visitor.page.keyboard.press('Enter')
  await visitor.page.getByRole('heading', { name: 'n1', level: 1 }).waitFor()
  await visitor.page.goto(`${new URL(at).origin}/workloads/%zz`)
  await visitor.page.getByText('There is no such page').waitFor()
})
