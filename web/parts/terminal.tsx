import { useEffect, useRef, useState } from 'preact/hooks'
import { memo } from '../use.ts'
import { Screen, keyText, runsOf } from './screen.ts'

/** The channels of Kubernetes' exec protocol, which are the first byte of each message. */
const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const
const [columns, rows] = [100, 24]

/** A shell in a container. */
export const Terminal = memo(({ namespace, pod, container }: { namespace: string; pod: string; container: string }) => {
  const [state, setState] = useState<'connecting' | 'open' | string>('connecting')
  const [, redraw] = useState(0)
  const screen = useRef(new Screen(columns, rows))
  const socket = useRef<WebSocket | undefined>(undefined)
  const box = useRef<HTMLPreElement>(null)
  const send = (to: number, text: string) => {
    if (socket.current?.readyState !== WebSocket.OPEN) return
    const bytes = new TextEncoder().encode(text)
    socket.current.send(Uint8Array.of(to, ...bytes))
  }
  useEffect(() => {
    const query = new URLSearchParams({ namespace, name: pod, container })
    const opened = new WebSocket(`ws://${location.host}/api/exec?${query.toString()}`)
    opened.binaryType = 'arraybuffer'
    socket.current = opened
    screen.current = new Screen(columns, rows)
    const decoder = new TextDecoder()
    let ended = 'The shell has ended.'
    let frame = 0
    const draw = () => {
      frame = 0
      redraw((n) => n + 1)
    }
    opened.addEventListener('open', () => {
      setState('open')
      send(channel.resize, JSON.stringify({ Width: columns, Height: rows }))
      box.current?.focus()
    })
    opened.addEventListener('message', ({ data }) => {
      const bytes = new Uint8Array(data as ArrayBuffer)
      if (bytes[0] === channel.error) {
        const { status, message } = JSON.parse(decoder.decode(bytes.subarray(1)) || '{}') as {
          status?: string
          message?: string
        }
        if (status === 'Failure') ended = message ?? ended
        return
      }
      screen.current.write(decoder.decode(bytes.subarray(1), { stream: true }))
      frame ||= requestAnimationFrame(draw)
    })
    opened.addEventListener('close', ({ reason }) => setState(reason || ended))
    return () => {
      cancelAnimationFrame(frame)
      opened.close()
    }
  }, [namespace, pod, container])
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight
  })
  const key = (e: KeyboardEvent) => {
    // This key combination leaves the terminal, which otherwise takes all keys.
    if (e.key === 'Escape' && e.shiftKey) return box.current?.blur()
    const text = keyText(e)
    if (text === undefined) return
    e.preventDefault()
    e.stopPropagation()
    send(channel.stdin, text)
  }
  const { cursor, lines } = screen.current
  return (
    <div class="terminal">
      <pre
        ref={box}
        tabIndex={0}
        role="textbox"
        aria-multiline="true"
        aria-label={`Shell in ${pod}/${container}; Shift+Escape leaves it`}
        onKeyDown={key}
        onPaste={(e) => send(channel.stdin, e.clipboardData?.getData('text') ?? '')}
      >
        {lines.map((line, row) => (
          <Line
            key={screen.current.dropped + row}
            line={line}
            version={screen.current.versionOf(line)}
            cursorAt={row === cursor.row ? cursor.column : undefined}
          />
        ))}
      </pre>
      <p class="dim" role="status">
        {state === 'open' ? 'Shift+Escape leaves the shell.' : state === 'connecting' ? 'Connecting …' : state}
      </p>
    </div>
  )
})

interface LineProps {
  line: Parameters<typeof runsOf>[0]
  /** Changes with the line. */
  version: number
  cursorAt: number | undefined
}

const Line = memo(({ line, cursorAt }: LineProps) => {
  const runs = runsOf(line, cursorAt)
  return (
    <div>
      {runs.map(({ text, style }, i) =>
        style ? (
          <span key={i} class={style}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
      {runs.length === 0 && '\u00a0'}
    </div>
  )
})
