/** The writing sides of a raw socket, an HTTP/1.1 response and an HTTP/2 stream. */
import type { ServerResponse } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { Pipe } from './spout.ts'

/** Settles when the bytes are taken, or never will be. */
function put(target: Writable, bytes: Uint8Array): Promise<void> {
  if (target.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const settle = (): void => {
      target.off('close', settle)
      resolve()
    }
    target.on('close', settle)
    target.write(bytes, settle)
  })
}

export function socketPipe(socket: Socket): Pipe {
  // What was written is still sent; only then it is closed.
  const cut = (): void => socket.destroySoon()
  return {
    write: (bytes) => put(socket, bytes),
    end: cut,
    cut,
    // A reader that finds bytes and the RST in the same poll may take it for a plain end (libuv does): it gets a turn for the bytes.
    reset: () => void setImmediate(() => setImmediate(() => socket.resetAndDestroy())),
    close: cut,
    get gone() {
      return socket.destroyed || socket.writableEnded
    },
  }
}

/** After the head. */
export function responsePipe(response: ServerResponse, socket: Socket): Pipe {
  return {
    ...socketPipe(socket),
    write: (bytes) => put(response, bytes),
    end: () => void response.end(),
    get gone() {
      return response.destroyed || response.writableEnded || socket.destroyed || socket.writableEnded
    },
  }
}

/** @param socket Of the whole session: a process that dies takes all streams with it. */
export function http2Pipe(stream: Http2Stream & Writable, socket: Socket): Pipe {
  const cut = (): void => void socket.destroy()
  return {
    write: (bytes) => put(stream, bytes),
    end: () => void stream.end(),
    cut,
    // `close(code)` would send END_STREAM first, which is a clean end; with an error the code is INTERNAL_ERROR.
    reset: () => void stream.destroy(new Error('Reset on purpose')),
    close: cut,
    get gone() {
      return stream.destroyed || stream.closed || stream.writableEnded
    },
  }
}
