import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { animatedPng } from '../kubectl/animated-png.ts'
import { CuttableWay, type Visit, seriousFindings, startBrowser, visit } from '../kubectl/browser.ts'
import { useEverything } from '../kubectl/cluster.ts'
import { startDashboard } from '../kubectl/coxswain.ts'

const root = path.resolve(import.meta.dirname, '../..')
/** With DOCS_PICTURES the pictures of docs/dashboard.md are made anew; each run has other names and times in them. */
const pictures = process.env['DOCS_PICTURES'] ? path.join(root, 'docs/dashboard') : path.join(tmpdir(), 'coxswain-pictures')
const cluster = useEverything(['--dashboard-port', '0', '--slo-file', path.join(root, 'examples/slo.yaml')])

/** A workload whose containers write a line and stay; `exit` has them end instead. */
const workload = (kind: string, name: string, replicas: number, command: string, more = '') => `
apiVersion: apps/v1
kind: ${kind}
metadata: { name: ${name}, namespace: shop, labels: { team: ${name} } }
spec:
  replicas: ${replicas}
  ${kind === 'StatefulSet' ? `serviceName: ${name}` : 'progressDeadlineSeconds: 120'}
  selector: { matchLabels: { app: ${name} } }
  ${more}
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - { name: main, image: '${name}:1', command: [sh, -c, '${command}'], env: [{ name: TOKEN, value: very-secret }] }
`
const stays = 'echo hello from $HOSTNAME; exec sleep 600'

const viewer = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: viewer, namespace: shop }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: viewer, namespace: shop }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ kind: ServiceAccount, name: viewer, namespace: shop }]
`

let browser: Browser
let admin: Visit
let origin: string
const visits: Visit[] = []

beforeAll(async () => {
  mkdirSync(pictures, { recursive: true })
  const { kubectl, server } = cluster
  await kubectl.ok('create namespace shop')
  kubectl.file('shop.yaml', [
    workload('Deployment', 'web', 12, stays), workload('Deployment', 'cart', 3, stays), workload('StatefulSet', 'db', 3, stays, 'podManagementPolicy: Parallel'), viewer,
  ].join('---'))
  await kubectl.ok('wait --for=create serviceaccount/default -n shop --timeout=60s')
  await kubectl.ok('apply -f shop.yaml')
  await kubectl.ok('create deployment other --image=nginx')
  await kubectl.ok("create cronjob nightly --image=busybox --schedule='0 3 * * *' -n shop -- true")
  await kubectl.ok('wait --for=condition=Available deployment/web deployment/cart -n shop --timeout=60s')
  browser = await startBrowser()
  admin = await visit(browser)
  visits.push(admin)
  const link = await server.said(/http:\/\/\S+key=\S+/)
  origin = new URL(link).origin
  await admin.page.goto(link)
  await admin.page.getByRole('row').filter({ hasText: 'web' }).waitFor()
}, 90_000)

afterAll(() => browser?.close())

afterEach(() => {
  for (const { complaints } of visits) expect(complaints.splice(0)).toEqual([])
})

const open = (page: Page, at: string) => page.goto(origin + at)
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const picture = (page: Page, name: string) => page.screenshot({ path: path.join(pictures, `${name}.png`), animations: 'disabled' })

/** The number of frames that the browser finds in a picture. */
const framesOf = (page: Page, png: Buffer): Promise<number> => page.evaluate(async (base64) => {
  const { ImageDecoder } = globalThis as unknown as { ImageDecoder: new (of: object) => { tracks: { ready: Promise<void>; selectedTrack: { frameCount: number } } } }
  const { tracks } = new ImageDecoder({ type: 'image/png', data: Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)) })
  await tracks.ready
  return tracks.selectedTrack.frameCount
}, png.toString('base64'))

/** Opens an action's dialog, fills in a value, and confirms. Answers what the dialog said, and the command. */
async function does(page: Page, action: string, value?: string): Promise<{ sentence: string; command: string }> {
  await page.getByRole('button', { name: action, exact: true }).first().click()
  const dialog = page.getByRole('dialog')
  if (value !== undefined) await dialog.getByRole('textbox').fill(value)
  const confirm = dialog.locator('button.primary:not([disabled])')
  if (value !== undefined) await dialog.locator('code', { hasText: value }).waitFor()
  await confirm.waitFor()
  const told = { sentence: await dialog.getByRole('status').innerText(), command: await dialog.locator('code').innerText() }
  await confirm.click()
  await dialog.waitFor({ state: 'detached' })
  return told
}

describe('the list', () => {
  it('shows workloads of all kinds, follows kubectl, and is narrowed by text, label, state and keys', async () => {
    const { page } = admin
    await open(page, '/')
    await row(page, 'nightly').getByText('Scheduled').waitFor()
    await row(page, 'web').getByText('12/12').waitFor()
    await cluster.kubectl.ok('scale deployment cart --replicas=4 -n shop')
    await row(page, 'cart').getByText('4/4').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('team=cart')
    await row(page, 'db').waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    expect(new URL(page.url()).search).toBe('?q=team%3Dcart')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'cart', level: 1 }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox').fill('nothing has this')
    await page.getByText('No workload matches the filter').waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await row(page, 'db').waitFor()
    const scheduled = page.getByRole('group', { name: 'States' }).getByRole('button', { name: 'Scheduled' })
    await scheduled.click()
    await row(page, 'db').waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await row(page, 'nightly').waitFor()
    expect([new URL(page.url()).search, await scheduled.getAttribute('aria-pressed')]).toEqual(['?state=Scheduled', 'true'])
    await scheduled.click()
    await row(page, 'db').waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
  })
})

describe('a workload', () => {
  it('that is stuck names its pod, says why, and is mended from the page', async () => {
    const { page } = admin
    const { kubectl } = cluster
    await kubectl.ok(`patch deployment web -n shop --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/command","value":["sh","-c","exit 3"]},{"op":"replace","path":"/spec/progressDeadlineSeconds","value":3}]'`)
    await open(page, '/')
    await row(page, 'web').getByText('Stuck').waitFor({ timeout: 30_000 })
    await row(page, 'web').getByText('crashes again and again').waitFor()
    const list = await picture(page, 'list')
    await row(page, 'web').click()
    const cause = page.getByRole('region', { name: 'What is in its way' })
    await cause.getByText('exit code 3').first().waitFor()
    const [, named = ''] = /Pod (web-\S+)/.exec(await cause.innerText())!
    expect(await kubectl.ok('get pods -n shop -l app=web -o name')).toContain(named)
    await page.locator('canvas[data-pods]:not([data-pods="0"])').waitFor()
    await page.getByText('in trouble').first().waitFor()
    await page.getByLabel('Template').getByText('exit 3').first().waitFor()
    expect(await page.content()).not.toContain('very-secret')
    await page.locator('header.title').getByText(/^for \d+(s|m)/).waitFor()
    const owners = page.getByRole('region', { name: 'Owners' })
    await owners.getByText('revision 1').waitFor()
    expect(await owners.innerText()).toMatch(/Deployment web revision 2 \d+ pods\s+ReplicaSet web-\S+ revision 2 \d+ pods\s+ReplicaSet web-\S+ revision 1 \d+ pods/)
    expect(await seriousFindings(page)).toEqual([])
    const stuck = await picture(page, 'stuck')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByRole('dialog').getByText('The same with kubectl').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    const undo = await page.screenshot({ animations: 'disabled' })
    await page.keyboard.press('Escape')
    const told = await does(page, 'Undo')
    expect(told.command).toBe('kubectl rollout undo deployment/web --to-revision=1 -n shop')
    expect(told.sentence).toContain('The template of revision 1 becomes the present one.')
    await page.locator('header.title').getByText('Available').waitFor({ timeout: 40_000 })
    await kubectl.ok('rollout status deployment/web -n shop --timeout=60s')
    const fixed = await picture(page, 'fixed')
    const film = animatedPng([{ png: list, seconds: 5 }, { png: stuck, seconds: 6 }, { png: undo, seconds: 4 }, { png: fixed, seconds: 5 }])
    writeFileSync(path.join(pictures, 'rollout.png'), film)
    expect(await framesOf(page, film)).toBe(4)
  })

  it('that makes no progress yet shows the time until its deadline', async () => {
    const { page } = admin
    cluster.kubectl.file('slow.yaml', workload('Deployment', 'slow', 1, stays).replace('containers:', 'nodeSelector: { no: node }\n      containers:'))
    await cluster.kubectl.ok('apply -f slow.yaml')
    await open(page, '/workloads/Deployment/shop/slow')
    const bar = page.getByRole('progressbar', { name: 'Progress deadline' })
    await bar.waitFor()
    expect(await bar.getAttribute('aria-valuetext')).toMatch(/^\d.* of (2m|120s) left to make progress$/)
    const left = Number(await bar.getAttribute('aria-valuenow'))
    expect([left > 0, left <= 120, await bar.getAttribute('aria-valuemax')]).toEqual([true, true, '120'])
    await cluster.kubectl.ok('delete deployment slow -n shop')
  })

  it('is scaled, paused, resumed and restarted, and the confirmation says what happens', async () => {
    const { page } = admin
    const { kubectl } = cluster
    const spec = (field: string) => kubectl.ok(`get deployment cart -n shop -o jsonpath={.spec.${field}}`)
    await kubectl.ok('scale deployment cart --replicas=3 -n shop')
    await kubectl.ok('rollout status deployment/cart -n shop --timeout=60s')
    await open(page, '/workloads/Deployment/shop/cart')
    expect(await does(page, 'Scale', '5')).toEqual({ sentence: 'It has 3 replicas and will have 5: 2 pods are started.', command: 'kubectl scale deployment/cart --replicas=5 -n shop' })
    expect(await spec('replicas')).toBe('5')
    await page.locator('header.title').getByText('5/5').waitFor()
    expect((await does(page, 'Pause')).command).toBe('kubectl rollout pause deployment/cart -n shop')
    expect(await spec('paused')).toBe('true')
    expect((await does(page, 'Resume')).sentence).toBe('Its rollout continues with its current template.')
    expect(await spec('paused')).toBe('')
    expect((await does(page, 'Restart')).sentence).toBe('5 pods are replaced step by step (RollingUpdate).')
    expect(await spec('template.metadata.annotations')).toContain('restartedAt')
    await kubectl.ok('rollout status deployment/cart -n shop --timeout=60s')
    await page.getByRole('button', { name: 'Scale', exact: true }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('-1')
    await page.getByRole('dialog').getByText('must be an integer greater than or equal to 0').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('is changed only as the dialog says: it waits for the effect of a new value, and shows another effect', async () => {
    const { page } = admin
    const { kubectl } = cluster
    await kubectl.ok('scale deployment cart --replicas=3 -n shop')
    await open(page, '/workloads/Deployment/shop/cart')
    await page.getByRole('button', { name: 'Scale', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.locator('button.primary')
    await dialog.locator('code').waitFor()
    const held: (() => void)[] = []
    await page.route('**/api/action', async (route) => {
      await new Promise<void>((resolve) => held.push(resolve))
      await route.continue()
    }, { times: 1 })
    await dialog.getByRole('textbox').fill('4')
    await expect.poll(() => held.length).toBe(1)
    expect([await confirm.isDisabled(), await dialog.getByRole('status').innerText()]).toEqual([true, 'Asking the server …'])
    for (const release of held) release()
    await dialog.getByText('It has 3 replicas and will have 4: 1 pod is started.').waitFor()
    await kubectl.ok('scale deployment cart --replicas=2 -n shop')
    await confirm.click()
    await dialog.getByRole('alert').getByText('It was not done: Operation cannot be fulfilled on deployments.apps "cart"').waitFor()
    await dialog.getByText('It has 2 replicas and will have 4: 2 pods are started.').waitFor()
    expect(await kubectl.ok('get deployment cart -n shop -o jsonpath={.spec.replicas}')).toBe('2')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await kubectl.ok('scale deployment cart --replicas=5 -n shop')
  })

  it('with a single revision has nothing to undo, and the dialog says so', async () => {
    const { page } = admin
    await open(page, '/workloads/StatefulSet/shop/db')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('no last revision to roll back to').waitFor()
    expect(await dialog.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true)
    expect(await dialog.locator('code').count()).toBe(0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await cluster.kubectl.refused('rollout undo statefulset/db -n shop')).toContain('no last revision to roll back to')
  })

  it('has a partition that is set, and pods that are deleted', async () => {
    const { page } = admin
    const { kubectl } = cluster
    await kubectl.ok('wait --for=condition=Available statefulset/db -n shop --timeout=60s')
    await open(page, '/workloads/StatefulSet/shop/db')
    expect((await does(page, 'Set partition', '2')).sentence).toBe('1 pod gets the newest revision, 2 keep the old one.')
    expect(await kubectl.ok('get statefulset db -n shop -o jsonpath={.spec.updateStrategy.rollingUpdate.partition}')).toBe('2')
    const uid = () => kubectl.ok('get pod db-0 -n shop -o jsonpath={.metadata.uid}')
    const before = await uid()
    await open(page, '/pods/shop/db-0')
    expect(await does(page, 'Delete')).toEqual({ sentence: 'Its containers have 0 seconds to end. StatefulSet db then decides whether it needs another one.', command: 'kubectl delete pod db-0 -n shop' })
    await kubectl.ok('wait --for=condition=Available statefulset/db -n shop --timeout=60s')
    await expect.poll(uid, { timeout: 40_000 }).not.toBe(before)
  })
})

describe('a pod', () => {
  it('shows its containers and its log, and has a shell', async () => {
    const { page } = admin
    await open(page, '/pods/shop/db-1')
    await page.getByLabel('Log of main').getByText('hello from db-1').waitFor()
    await page.getByRole('searchbox', { name: 'Search in the log' }).fill('nothing')
    await page.getByText('No line has this.').waitFor()
    await page.getByRole('region', { name: 'Start and sandbox' }).getByText('Volumes, sandbox and network').waitFor()
    await page.getByRole('button', { name: 'Shell' }).click()
    const shell = page.getByRole('textbox', { name: /Shell in db-1/ })
    await page.getByText('Shift+Escape leaves the shell').waitFor()
    await shell.pressSequentially('echo $((40+2)) > seen; echo it is $(cat seen)\n')
    await shell.getByText('it is 42', { exact: true }).waitFor()
    await picture(page, 'pod')
    await shell.press('Shift+Escape')
  })

  it('that has crashed has the log of the run before', async () => {
    const { page } = admin
    const { kubectl } = cluster
    kubectl.file('crash.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: { name: crash, namespace: shop }\nspec: { containers: [{ name: main, image: x, command: [sh, -c, "echo last words; exit 7"] }] }')
    await kubectl.ok('apply -f crash.yaml')
    await open(page, '/pods/shop/crash')
    await page.getByText('exit code 7').first().waitFor()
    // The followed log goes on with the next run of the container.
    await expect.poll(() => page.getByLabel('Log of main').getByText('last words').count(), { timeout: 40_000 }).toBeGreaterThan(1)
    await page.getByLabel('Previous run').check({ timeout: 40_000 })
    await expect.poll(() => page.getByLabel('Log of main').getByText('last words').count(), { timeout: 40_000 }).toBe(1)
    await kubectl.ok('delete pod crash -n shop --now')
  })
})

it('nodes, objectives and controllers have views', async () => {
  const { page } = admin
  await open(page, '/nodes')
  const [name = ''] = (await cluster.kubectl.ok('get nodes -o jsonpath={.items[*].metadata.name}')).split(' ')
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByText('shop/db-1').waitFor()
  await page.getByRole('link', { name: 'Objectives' }).click()
  await page.locator('.plot canvas').first().waitFor()
  await page.getByRole('region', { name: 'Slowest sandboxes' }).getByRole('link').first().waitFor()
  await page.getByRole('link', { name: 'Controllers' }).click()
  await page.getByRole('row').filter({ hasText: 'statefulset' }).first().waitFor()
  await open(page, '/nowhere')
  await page.getByText('There is no such page').waitFor()
})

it('a page that lost its connection goes on where it was, without a reload', async () => {
  const way = await CuttableWay.to(Number(new URL(origin).port))
  try {
    const { page } = admin
    const frames: { s?: 1; u?: unknown[] }[] = []
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => void frames.push(JSON.parse(String(payload)))))
    await page.goto(`http://127.0.0.1:${way.port}/`)
    await row(page, 'web').waitFor()
    expect(frames.filter(({ s }) => s)).toHaveLength(1)
    await page.evaluate(() => ((globalThis as { mark?: string }).mark = 'still here'))
    way.cut()
    await page.getByText('connection lost, trying again').waitFor()
    await cluster.kubectl.ok('scale deployment cart --replicas=2 -n shop')
    frames.length = 0
    way.mend()
    await page.getByText('live', { exact: true }).waitFor()
    await row(page, 'cart').getByText('2/2').waitFor()
    expect(await page.evaluate(() => (globalThis as { mark?: string }).mark)).toBe('still here')
    expect(await row(page, 'web').count()).toBe(1)
    // Only the changes came back: no snapshot, and rows of cart alone.
    expect(frames.length).toBeGreaterThan(0)
    expect(frames.filter(({ s }) => s)).toEqual([])
    expect(frames.flatMap(({ u }) => (u ? String(u[3]).split('\u007f') : [])).every((name) => name === 'cart')).toBe(true)
  } finally {
    await open(admin.page, '/')
    await way.close()
  }
})

describe('somebody with fewer rights', () => {
  it('sees what their Role allows, has no buttons, and is refused by the API server', async () => {
    const token = (await cluster.kubectl.ok('create token viewer -n shop')).trim()
    const theirs = await visit(browser)
    visits.push(theirs)
    const { page, context } = theirs
    await page.goto(origin)
    await page.getByLabel('Log in with a token').fill('wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Log in with a token').fill(token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await row(page, 'web').waitFor()
    expect(await row(page, 'other').count()).toBe(0)
    await open(page, '/workloads/Deployment/shop/web')
    await page.getByRole('heading', { name: 'web', level: 1 }).waitFor()
    await page.locator('canvas[data-pods="12"]').waitFor()
    expect(await page.getByRole('group', { name: 'Actions' }).getByRole('button').count()).toBe(0)
    await open(page, '/workloads/Deployment/default/other')
    await page.getByText('You may not see').waitFor()
    await open(page, '/nodes')
    await page.getByText('cannot list nodes').waitFor()
    const answer = await page.evaluate(async () => {
      const body = JSON.stringify({ action: 'scale', replicas: 0, kind: 'Deployment', namespace: 'shop', name: 'web' })
      const response = await fetch('/api/action', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return { status: response.status, ...((await response.json()) as { message: string }) }
    })
    expect(answer.status).toBe(403)
    expect(answer.message).toContain('User "system:serviceaccount:shop:viewer" cannot patch resource "deployments/scale"')
    const [other = '', web = ''] = await Promise.all(['default -l app=other', 'shop -l app=web'].map((of) => cluster.kubectl.ok(`get pods -n ${of} -o jsonpath={.items[0].metadata.name}`)))
    const log = await page.evaluate(async (name) => (await fetch(`/api/log?namespace=default&name=${name}&container=nginx`)).status, other)
    expect(log).toBe(403)
    const shell = await page.evaluate((name) => new Promise<{ code: number; reason: string }>((resolve) => {
      const { WebSocket: Socket, location: at } = globalThis as unknown as { WebSocket: new (url: string) => { addEventListener(type: string, fn: (event: { code: number; reason: string }) => void): void }; location: { host: string } }
      new Socket(`ws://${at.host}/api/exec?namespace=shop&name=${name}&container=main`).addEventListener('close', ({ code, reason }) => resolve({ code, reason }))
    }), web)
    expect(shell).toEqual({ code: 4403, reason: expect.stringMatching(/User "system:serviceaccount:shop:viewer" cannot (get|create) resource "pods\/exec"/) })
    const [cookie] = await context.cookies(origin)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Log in with a token').waitFor()
    expect(await context.cookies(origin)).toEqual([])
    expect((await fetch(`${origin}/api/me`, { headers: { cookie: `${cookie!.name}=${cookie!.value}` } })).status).toBe(401)
    await context.close()
    visits.splice(visits.indexOf(theirs), 1)
    expect(theirs.complaints).toEqual([])
  })
})

it('somebody whom the API server no longer knows is led to the login', async () => {
  const { kubectl } = cluster
  await kubectl.ok('create serviceaccount leaver -n shop')
  const token = (await kubectl.ok('create token leaver -n shop')).trim()
  const theirs = await visit(browser)
  visits.push(theirs)
  const { page, context } = theirs
  await page.goto(`${origin}/login?next=/pods/shop/db-1`)
  await page.getByLabel('Log in with a token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('You may not see Pod shop/db-1').waitFor()
  await kubectl.ok('delete serviceaccount leaver -n shop')
  await page.getByLabel('Log in with a token').waitFor({ timeout: 40_000 })
  expect(new URL(page.url()).searchParams.get('next')).toBe('/pods/shop/db-1')
  await context.close()
  visits.splice(visits.indexOf(theirs), 1)
  expect(theirs.complaints).toEqual([])
})

describe('the server', () => {
  const ask = (at: string, init: RequestInit = {}) => fetch(origin + at, { redirect: 'manual', ...init })

  it('shows nothing to whoever has no session, and a link works once', async () => {
    expect((await ask('/api/me')).status).toBe(401)
    expect((await ask('/api/workload?kind=Deployment&namespace=shop&name=web')).status).toBe(401)
    const link = await cluster.server.said(/http:\/\/\S+key=\S+/)
    const again = await fetch(link, { redirect: 'manual' })
    expect(again.headers.get('set-cookie')).toBeNull()
    expect(await again.text()).toContain('/login?used')
  })

  it('does not use a link for a HEAD request', async () => {
    expect((await ask('/open?key=x', { method: 'HEAD' })).status).toBe(405)
  })

  it('serves a page of at most 40 KB', async () => {
    const html = await (await ask('/')).text()
    const files = [...html.matchAll(/\/assets\/[\w.-]+/g)].map(([at]) => at)
    expect(files).toHaveLength(2)
    const sizes = await Promise.all(files.map(async (at) => gzipSync(Buffer.from(await (await ask(at)).arrayBuffer())).length))
    expect(sizes.reduce((sum, size) => sum + size, html.length)).toBeLessThan(40_000)
  })

  it('refuses requests of other sites, other ports and other names', async () => {
    const [cookie] = await admin.context.cookies(origin)
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    const headers = { cookie: `${cookie!.name}=${cookie!.value}` }
    expect((await ask('/api/me', { headers })).status).toBe(200)
    expect((await ask('/api/me', { headers: { ...headers, origin: 'http://127.0.0.1:1' } })).status).toBe(403)
    expect((await ask('/api/me', { headers: { ...headers, 'sec-fetch-site': 'same-site' } })).status).toBe(403)
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    expect((await ask('/api/delete-pod', { method: 'POST', headers: form, body: 'namespace=shop&name=db-0' })).status).toBe(415)
    const { headers: policy } = await ask('/')
    expect(policy.get('content-security-policy')).toContain("script-src 'self'")
    expect(policy.get('content-security-policy')).not.toContain('unsafe')
  })

  it('is run for any kubeconfig by coxswain dashboard', async () => {
    const dashboard = await startDashboard(cluster.server.kubeconfig, ['--port', '0', '-n', 'shop'])
    const theirs = await visit(browser, { viewport: { width: 390, height: 780 }, colorScheme: 'dark' })
    try {
      await theirs.page.goto(dashboard.link)
      await row(theirs.page, 'web').waitFor()
      expect(await row(theirs.page, 'other').count()).toBe(0)
      const overflow = await theirs.page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect(overflow).toBeLessThanOrEqual(0)
      expect(await seriousFindings(theirs.page)).toEqual([])
      await picture(theirs.page, 'phone')
      expect(theirs.complaints).toEqual([])
    } finally {
      await theirs.context.close()
      await dashboard.stop()
    }
  })
})

it.each(['light', 'dark'] as const)('axe-core has no serious finding on any view, in %s', async (colorScheme) => {
  const { page } = admin
  await page.emulateMedia({ colorScheme })
  const seen: [string, string][] = [
    ['/', 'nightly'], ['/workloads/Deployment/shop/web', 'Revisions'], ['/pods/shop/db-1', 'hello from'], ['/nodes', 'CPU'], ['/objectives', 'Slowest sandboxes'], ['/controllers', 'statefulset'], ['/login', 'Log in with a token'],
  ]
  const findings: string[] = []
  for (const [at, text] of seen) {
    await open(page, at)
    await page.getByText(text).first().waitFor()
    findings.push(...(await seriousFindings(page)).map((finding) => `${at} ${finding}`))
  }
  expect(findings).toEqual([])
})
