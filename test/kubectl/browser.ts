import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Server, type Socket, connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core'

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--force-color-profile=srgb',
]

/** Debian's chromium, without a window. */
export const startBrowser = (): Promise<Browser> => chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })

/** A page of its own profile, and everything that a browser complains about on it. */
export interface Visit {
  page: Page
  context: BrowserContext
  /** Violations of the content security policy, errors of scripts, messages of the console. */
  complaints: string[]
}

export async function visit(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    // Refusals and breaks that a test wants are told by the browser, too.
    if (['error', 'warning'].includes(message.type()) && !/the server responded with a status of 4|WebSocket connection|net::ERR_/.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, context, complaints }
}

const axeSource = () => readFileSync(createRequire(path.resolve('package.json')).resolve('axe-core/axe.min.js'), 'utf8')

/** The serious findings of axe-core on a page, each with the first element that has it. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Scripts of a debugger are not bound by the page's policy.
  await page.evaluate(axeSource())
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; help: string; nodes: { html: string }[] }[] }> } }
    const { violations } = await axe.run()
    return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]!.html.slice(0, 200)}`)
  })
}

/** A way to a port that can be cut: all connections end, and none is accepted until it is mended. */
export class CuttableWay {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false

  private constructor(target: number) {
    this.#server = createServer((socket) => {
      if (this.#isCut) return void socket.destroy()
      const onward = connect(target, '127.0.0.1')
      for (const one of [socket, onward]) {
        this.#sockets.add(one)
        one.on('error', () => one.destroy())
        one.on('close', () => this.#sockets.delete(one))
      }
      socket.on('close', () => onward.destroy())
      onward.on('close', () => socket.destroy())
      socket.pipe(onward).pipe(socket)
    })
  }

  static async to(target: number): Promise<CuttableWay> {
    const way = new CuttableWay(target)
    await new Promise<void>((resolve) => way.#server.listen(0, '127.0.0.1', resolve))
    return way
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
