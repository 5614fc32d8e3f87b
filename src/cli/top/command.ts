import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Session, addConnectionFlags, runSession } from '../session.ts'
import type { DocumentForm } from '../terminal/document.ts'

interface Flags {
  metricsUrl?: URL
  watch?: boolean
  output?: DocumentForm
}

const address = (text: string): URL => {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('must be an address such as https://127.0.0.1:38421')
  return new URL(text)
}

/** `coxswain top controllers`: queues, lag and retries of the controllers of a running process. */
export function addTopCommand(program: Command, release: string): void {
  const top = program.command('top').description('show the activity of a running control plane')
  const controllers = addConnectionFlags(
    top.command('controllers').description('show queues, lag, retries and stale skips of controllers'),
  )
    .option(
      '--metrics-url <url>',
      "URL of the controllers' /metrics (default: the API server, if it runs the controllers)",
      address,
    )
    .option('-w, --watch', 'refresh every two seconds')
    .addOption(new Option('-o, --output <form>', 'output format (default: table)').choices(['json', 'yaml']))
  controllers.action(async () => {
    const { metricsUrl, watch = false, output } = controllers.opts<Flags>()
    const { clientAt, runTopControllers } = await import('./run.ts')
    const top = (session: Session) => runTopControllers(session, { metricsUrl, watch, form: output })
    // A command line with an address needs no kubeconfig.
    return metricsUrl
      ? runSession(controllers, release, top, async () => clientAt(metricsUrl))
      : runSession(controllers, release, top)
  })
}
