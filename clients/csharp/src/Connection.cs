using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading;

namespace Rossum.Oz
{
    /// <summary>One TCP connection to a robot. A thread of its own opens it and receives; any thread sends and finishes.</summary>
    internal sealed class Connection : IDisposable
    {
        /// <summary>How long the robot may take to close the connection after the client has.</summary>
        private static readonly TimeSpan CloseTimeout = TimeSpan.FromMilliseconds(500);

        /// <summary>How many bytes wait for the robot to read at most.</summary>
        private const int MaxBacklog = 16 * 1024 * 1024;

        /// <summary>How much is read at once.</summary>
        private const int Chunk = 64 * 1024;

        private readonly TimeSpan timeout;
        private readonly Decoder decoder;
        private readonly Timer closer;
        private volatile Deadline answerBy = Deadline.Never;

        // guarded by the queue
        private readonly Queue<byte[]> unsent = new Queue<byte[]>();
        private int backlog;
        private Socket socket;
        private bool isFinishing;
        private OzException end;

        /// <summary>Prepares one; the timeout limits connecting, and how long the robot may leave requests unread.</summary>
        internal Connection(TimeSpan timeout)
        {
            this.timeout = timeout;
            decoder = new Decoder(new BufferedStream(new Incoming(this), Chunk));
            closer = new Timer(state => Abort());
        }

        internal static OzException NotConnected => new OzException(OzError.Closed, "the client is not connected");

        /// <summary>Connects and requests the version.</summary>
        internal Welcome Open(string host, int port)
        {
            try
            {
                Connect(host, port);
                new Thread(Write) { IsBackground = true, Name = "oz writer" }.Start();
                Send(Requests.Word(Message.RequestVersion, Protocol.Version));
                var welcome = decoder.Welcome();
                answerBy = Deadline.Never;
                return welcome;
            }
            catch (Exception error) when (IsEnd(error))
            {
                throw Reason(error);
            }
        }

        /// <summary>Reports messages until the connection ends. Returns the reason.</summary>
        internal OzException Receive(Action<Message, EventArgs> received)
        {
            OzException reason;
            try
            {
                while (true)
                {
                    var (message, arguments) = decoder.Read();
                    received(message, arguments);
                }
            }
            catch (OzException error)
            {
                reason = error;
            }
            catch (Exception error) when (IsEnd(error))
            {
                reason = Reason(error);
            }
            catch (OutOfMemoryException error)
            {
                reason = new OzException(OzError.Closed, "there is not enough memory for what the robot has sent", error);
            }
            lock (unsent)
            {
                end = end ?? reason;
                return end;
            }
        }

        /// <summary>Has a request sent, without waiting.</summary>
        internal void Send(byte[] request)
        {
            lock (unsent)
            {
                if (end != null || isFinishing)
                {
                    throw NotConnected;
                }
                if (backlog > MaxBacklog)
                {
                    throw new OzException(OzError.Timeout, $"the robot does not read requests: {backlog} bytes of them wait");
                }
                unsent.Enqueue(request);
                backlog += request.Length;
                Monitor.Pulse(unsent);
            }
        }

        /// <summary>Ends the connection after the robot has read all requests; one that is not open yet at once.</summary>
        internal void Finish()
        {
            lock (unsent)
            {
                isFinishing = true;
                Monitor.Pulse(unsent);
            }
            if (answerBy == Deadline.Never)
            {
                closer.Change(CloseTimeout, Timeout.InfiniteTimeSpan);
            }
            else
            {
                Abort();
            }
        }

        public void Dispose()
        {
            closer.Dispose();
            Abort();
        }

        /// <summary>Closes the socket, which wakes the threads that use it.</summary>
        private void Abort()
        {
            lock (unsent)
            {
                end = end ?? new OzException(OzError.Closed, "this client has closed the connection");
                Monitor.Pulse(unsent);
                socket?.Close();
            }
        }

        private void Connect(string host, int port)
        {
            var addresses = Resolve(host);
            answerBy = Deadline.After(timeout);
            Exception failure = null;
            foreach (var address in addresses)
            {
                var attempt = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
                Use(attempt);
                try
                {
                    Connect(attempt, new IPEndPoint(address, port));
                    return;
                }
                catch (SocketException error)
                {
                    attempt.Close();
                    failure = error;
                }
            }
            var why = failure == null ? "it has no address" : failure.Message;
            throw new OzException(OzError.Unreachable, $"{host}:{port} cannot be reached: {why}", failure);
        }

        private static IPAddress[] Resolve(string host)
        {
            try
            {
                return Dns.GetHostAddresses(host);
            }
            catch (SocketException error)
            {
                throw new OzException(OzError.Unreachable, $"the host {host} is unknown", error);
            }
        }

        private void Use(Socket attempt)
        {
            lock (unsent)
            {
                socket = attempt;
                if (end != null || isFinishing)
                {
                    attempt.Close();
                }
            }
        }

        private void Connect(Socket attempt, IPEndPoint address)
        {
            var connecting = attempt.BeginConnect(address, null, null);
            if (!connecting.AsyncWaitHandle.WaitOne(answerBy.ToMilliseconds()))
            {
                throw NoAnswer();
            }
            attempt.EndConnect(connecting);
            attempt.SendTimeout = (int)Math.Min(Math.Max(timeout.TotalMilliseconds, 1), int.MaxValue);
        }

        /// <summary>Sends requests as they come.</summary>
        private void Write()
        {
            try
            {
                for (var request = Next(); request != null; request = Next())
                {
                    for (var sent = 0; sent < request.Length;)
                    {
                        sent += socket.Send(request, sent, Math.Min(Chunk, request.Length - sent), SocketFlags.None);
                    }
                }
                socket.Shutdown(SocketShutdown.Send);
            }
            catch (SocketException error) when (IsTimeout(error))
            {
                lock (unsent)
                {
                    end = end ?? new OzException(OzError.Timeout, $"the robot did not read requests within {Seconds}");
                }
                Abort();
            }
            catch (Exception error) when (IsEnd(error))
            {
                // reading will tell why, after what has arrived before
                return;
            }
        }

        /// <summary>The next request, as soon as there is one; <c>null</c> if no more will come.</summary>
        private byte[] Next()
        {
            lock (unsent)
            {
                while (unsent.Count == 0)
                {
                    if (isFinishing || end != null)
                    {
                        return null;
                    }
                    Monitor.Wait(unsent);
                }
                var request = unsent.Dequeue();
                backlog -= request.Length;
                return request;
            }
        }

        private int Read(byte[] into, int offset, int length)
        {
            while (true)
            {
                if (answerBy.IsPast)
                {
                    throw NoAnswer();
                }
                try
                {
                    socket.ReceiveTimeout = answerBy == Deadline.Never ? 0 : answerBy.ToMilliseconds();
                    return socket.Receive(into, offset, Math.Min(length, Chunk), SocketFlags.None);
                }
                catch (SocketException error) when (IsTimeout(error))
                {
                    // whether it is late is known above
                    continue;
                }
            }
        }

        private OzException NoAnswer() => new OzException(OzError.Timeout, $"no answer to the version request within {Seconds}");

        private string Seconds => $"{timeout.TotalSeconds} s";

        private static bool IsTimeout(SocketException error)
        {
            return error.SocketErrorCode == SocketError.TimedOut || error.SocketErrorCode == SocketError.WouldBlock;
        }

        private static bool IsEnd(Exception error)
        {
            return error is IOException || error is SocketException || error is ObjectDisposedException;
        }

        private OzException Reason(Exception error)
        {
            lock (unsent)
            {
                if (end != null)
                {
                    return end;
                }
            }
            return decoder.IsInMessage
                ? new OzException(OzError.Truncated, "the connection was closed in the middle of a message", error)
                : new OzException(OzError.Closed, "the robot has closed the connection; its log may say why", error);
        }

        /// <summary>The bytes that arrive.</summary>
        private sealed class Incoming : Stream
        {
            private readonly Connection connection;

            internal Incoming(Connection connection)
            {
                this.connection = connection;
            }

            public override bool CanRead => true;

            public override bool CanSeek => false;

            public override bool CanWrite => false;

            public override long Length => throw new NotSupportedException();

            public override long Position
            {
                get => throw new NotSupportedException();
                set => throw new NotSupportedException();
            }

            public override int Read(byte[] buffer, int offset, int count) => connection.Read(buffer, offset, count);

            public override void Flush()
            {
            }

            public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

            public override void SetLength(long value) => throw new NotSupportedException();

            public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
        }
    }
}
