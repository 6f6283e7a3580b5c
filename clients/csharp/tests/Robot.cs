using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using Rossum.Oz;

/// <summary>Welcomes one client, and then does as it is told.</summary>
internal sealed class Robot : IDisposable
{
    private const int PatienceMilliseconds = 30000;

    private readonly TcpListener listener = new TcpListener(IPAddress.Loopback, 0);

    internal Robot(Action<Stream> act)
    {
        listener.Start();
        new Thread(() => Run(act)) { IsBackground = true, Name = "robot" }.Start();
    }

    internal int Port => ((IPEndPoint)listener.LocalEndpoint).Port;

    /// <summary>One that reports the end of each text at once.</summary>
    internal static Robot ThatEndsEveryText()
    {
        return new Robot(stream =>
        {
            while (Read(stream, 4)[3] == (byte)Message.Speak)
            {
                var length = Read(stream, 2);
                Read(stream, length[0] << 8 | length[1]);
                stream.Write(Word(Message.SpeakDone), 0, 4);
            }
        });
    }

    /// <summary>One that only reads.</summary>
    internal static Robot ThatListens()
    {
        return new Robot(stream =>
        {
            while (stream.ReadByte() >= 0)
            {
                // until the end
            }
        });
    }

    internal static byte[] Word(Message message) => new byte[] { 0, 0, 0, (byte)message };

    public void Dispose() => listener.Stop();

    private void Run(Action<Stream> act)
    {
        try
        {
            using (var client = listener.AcceptTcpClient())
            using (var stream = client.GetStream())
            {
                stream.ReadTimeout = PatienceMilliseconds;
                Read(stream, 8);
                var welcome = Encoding.ASCII.GetBytes("\u0001\0\0\0\0\u0005alice\0\u0005Alice");
                stream.Write(welcome, 0, welcome.Length);
                act(stream);
            }
        }
        catch (Exception error) when (error is IOException || error is SocketException)
        {
            // the client has gone, and the test says whether it should have
            return;
        }
    }

    private static byte[] Read(Stream stream, int count)
    {
        var bytes = new byte[count];
        for (var at = 0; at < count;)
        {
            var read = stream.Read(bytes, at, count - at);
            at += read > 0 ? read : throw new EndOfStreamException();
        }
        return bytes;
    }
}
