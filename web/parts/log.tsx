import { useEffect, useRef, useState } from 'preact/hooks'
import { refusalOf } from '../api.ts'
import { memo } from '../use.ts'
import { type LogHost, LogReader } from './log-reader.ts'

async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = body.getReader()
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value
}

const host: LogHost = {
  async open(query, signal) {
    const response = await fetch(`/api/log?${new URLSearchParams(query).toString()}`, { signal })
    if (!response.ok) throw await refusalOf(response)
    return piecesOf(response.body!)
  },
  after(delayMs, fn) {
    const timer = setTimeout(fn, delayMs)
    return () => clearTimeout(timer)
  },
}

interface LogProps {
  namespace: string
  pod: string
  container: string
  hasPrevious: boolean
}

/** The log of a container: followed, or of the previous container. */
export const Log = memo(({ namespace, pod, container, hasPrevious }: LogProps) => {
  const [isFollowing, setFollowing] = useState(true)
  const [isPrevious, setPrevious] = useState(false)
  const [search, setSearch] = useState('')
  const reader = useRef<LogReader | undefined>(undefined)
  const [, redraw] = useState(0)
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        redraw((n) => n + 1)
      }, 100)
    }
    const source = { namespace, name: pod, container, isFollowed: isFollowing, isPrevious }
    const reading = (reader.current = new LogReader(host, source, show))
    // A browser has six connections to a server. Hidden pages must not take all of them.
    const readIfVisible = () => (document.hidden ? reading.pause() : reading.start())
    readIfVisible()
    show()
    document.addEventListener('visibilitychange', readIfVisible)
    return () => {
      document.removeEventListener('visibilitychange', readIfVisible)
      reading.pause()
      clearTimeout(timer)
    }
  }, [namespace, pod, container, isFollowing, isPrevious])
  useEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  })
  const wanted = search.toLowerCase()
  const { lines, dropped, note } = reader.current ?? { lines: [], dropped: 0, note: '' }
  const shown = lines.flatMap((line, i) =>
    !wanted || line.toLowerCase().includes(wanted) ? [{ line, number: dropped + i }] : [],
  )
  return (
    <div class="log">
      <div class="filters">
        <input
          type="search"
          aria-label="Search in the log"
          placeholder="Search in the log"
          value={search}
          onInput={(e) => setSearch(e.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={isFollowing}
            disabled={isPrevious}
            onChange={(e) => setFollowing(e.currentTarget.checked)}
          />{' '}
          Follow
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isPrevious}
            disabled={!hasPrevious}
            onChange={(e) => setPrevious(e.currentTarget.checked)}
          />{' '}
          Previous run
        </label>
        <span class="dim" role="status">
          {wanted ? `${shown.length} of ${lines.length} lines` : `${lines.length} lines`}
        </span>
      </div>
      <pre
        ref={box}
        tabIndex={0}
        aria-label={`Log of ${container}`}
        onScroll={(e) =>
          (isAtEnd.current =
            e.currentTarget.scrollHeight - e.currentTarget.scrollTop - e.currentTarget.clientHeight < 30)
        }
      >
        {shown.length === 0 && !note ? (
          <span class="dim">{wanted ? 'No line has this.' : 'The container has written nothing yet.'}</span>
        ) : (
          shown.map(({ line, number }) => <LogLine key={number} line={line} />)
        )}
      </pre>
      {note && (
        <p class="dim" role="status">
          {note}
        </p>
      )}
    </div>
  )
})

const LogLine = memo(({ line }: { line: string }) => {
  const at = line.indexOf(' ')
  const time = /^\d{4}-\d\d-\d\dT/.test(line) ? line.slice(11, 23) : ''
  return (
    <div>
      {time && <span class="dim">{time} </span>}
      {time ? line.slice(at + 1) : line}
    </div>
  )
})
